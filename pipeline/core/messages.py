"""docs/messages.md: every error and notice, by command, read from the sources.

``python -m pipeline.core.messages > docs/messages.md`` makes the page, and with the name of a
command (``tune``) it prints all that this command can say. A test holds the page against it.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.core import errors
from pipeline.core.closure import closure
from pipeline.core.errors import PipelineError
from pipeline.core.home import own_root

_ERRORS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, PipelineError)
}
_CLICK = ("UsageError", "BadParameter", "ClickException")
NOTICE = "notice"
_DECLARED = re.compile(r'@click\.(?:command|group)\(\s*"([a-z-]+)"')
_MARK = "\x01"  # around what is filled in
_FILLED = re.compile(f"{_MARK}([^{_MARK}]*){_MARK}")

_HEAD = """\
# Messages

**For people who want to know what a message means, and for those who write one.** Find a message
here by the command that says it; then you know what to do. Words in `code` are filled in.

Each message says what happened, and the line below it what to do. Where none is below, the command
prints the cure of its exit code ([exit-codes.md](exit-codes.md)), or the message says it itself.
This page is made from the sources by
`.venv/bin/python -m pipeline.core.messages > docs/messages.md`. With the name of a command
it prints all that the command can say. What a verdict and a report say is not among them:
[verdicts.md](verdicts.md) explains that.
"""
_OTHERS = {"operate": "`hakmem`", "bench/harness": "Programs of `bench/`"}
"""Folders whose commands have sections of their own: they share no rooms with the pipeline."""


@dataclass(frozen=True)
class Message:
    """What is said: the kind of error (or a notice), the sentence, and what to do about it."""

    kind: str
    words: str
    hint: str = ""

    @property
    def item(self) -> str:
        """The message as an item of a list, with what to do below it."""
        note = "note: " if self.kind == NOTICE else ""
        said = _wrapped(f"- {note}{self.words}", "  ")
        return said + (f"\n{_wrapped(f'  - {self.hint}', '    ')}" if self.hint else "")


def _wrapped(words: str, indent: str) -> str:
    return textwrap.fill(
        words, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def messages(file: Path) -> Iterator[Message]:
    """Yield what the code in ``file`` can say, in its order."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Call) and node.args:
            name = _name(node.func)
            if name in _ERRORS or name in _CLICK or name == NOTICE:
                words = _text(node.args[0])
                hint = next((_text(k.value) for k in node.keywords if k.arg == "hint"), "")
                if _FILLED.sub("", words).strip(": "):  # else somebody else's words
                    yield Message(name, _readable(words), _readable(hint))


def _name(function: ast.expr) -> str:
    """Return the last word of what is called: ``notice`` of ``console.notice``."""
    return str(getattr(function, "attr", "") or getattr(function, "id", ""))


def _text(node: ast.expr) -> str:
    """Return an expression as a reader sees it; what is filled in stands between marks."""
    match node:
        case ast.Constant(value=str(words)):
            return words
        case ast.IfExp(body=body, orelse=other):
            return " / ".join(filter(None, (_text(body), _text(other))))
        case ast.Call() if _name(node.func) == "did_you_mean":
            return f"did you mean {_MARK}name{_MARK}?"
        case ast.Call() if _name(node.func) == "nearest_file":
            return f"did you mean {_MARK}file{_MARK}? / look at the path of the file"
    parts = _parts(node)
    return "".join(map(_text, parts)) if parts else f"{_MARK}{_word(node)}{_MARK}"


def _parts(node: ast.expr) -> list[ast.expr]:
    """Return what a text is put together from; nothing if it is one piece."""
    match node:
        case ast.JoinedStr(values=values):
            return values
        case ast.FormattedValue(value=value):
            return [value]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [left, right]
    return []


def _word(node: ast.expr) -> str:
    """Return the word that stands for a value: its name, or that of what is joined or called."""
    while isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute | ast.Name):
        return ast.unparse(node).removeprefix("self.").replace(".", " ").lower()
    return "..."


def _readable(words: str) -> str:
    """Return a message with what is filled in as code, on one line."""
    parts = " ".join(words.split()).split("`")
    # What stands between backticks in the source is code already.
    inside = (part.replace(_MARK, "") if number % 2 else part for number, part in enumerate(parts))
    return _FILLED.sub(r"`\1`", "`".join(inside)).replace("``", "` `")


def page(root: Path) -> str:
    """Return the whole page."""
    parts = [_HEAD]
    parts += [_section(title, root, files) for title, files in _sections(root)]
    return "\n".join(filter(None, parts))


def of_command(root: Path, command: str) -> str:
    """Return all that one command can say, what it shares with others included."""
    modules = _command_modules(root)
    module = next((name for name in modules if command in _typed(root, name)), command)
    names = closure(root, f"pipeline.commands.{module}")
    return _section(f"`pipeline {command}`", root, [_file(root, name) for name in names])


def _sections(root: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield the files of each command alone, then those that several commands share, by room."""
    commands = sorted(
        _command_modules(root), key=lambda module: (not _typed(root, module), _title(root, module))
    )
    users: dict[str, list[str]] = {}
    for command in commands:
        for name in closure(root, f"pipeline.commands.{command}"):
            users.setdefault(name, []).append(command)
    own = {name: who[0] for name, who in users.items() if len(who) == 1}
    for command in commands:
        mine = f"pipeline.commands.{command}"
        files = [name for name in users if own.get(name) == command or name == mine]
        yield _title(root, command), [_file(root, name) for name in sorted(files)]
    shared = sorted(name for name in users if name not in own and ".commands." not in name)
    for room in sorted({name.split(".")[1] for name in shared if name.count(".")}):
        files = [name for name in shared if name.startswith(f"pipeline.{room}.")]
        yield f"Several commands: {room}", [_file(root, name) for name in files]
    for folder, title in _OTHERS.items():
        yield title, sorted((root / folder).rglob("*.py"))


def _command_modules(root: Path) -> list[str]:
    return sorted(path.stem for path in (root / "pipeline" / "commands").glob("[!_]*.py"))


def _typed(root: Path, module: str) -> list[str]:
    """Return the commands that a module of ``pipeline/commands/`` declares, as people type them."""
    commands = root / "pipeline" / "commands"
    text = (commands / f"{module}.py").read_text(encoding="utf-8")
    group, apart, _ = module.partition("_")
    within = f"{group} " if apart and (commands / f"{group}.py").is_file() else ""
    return [within + name for name in _DECLARED.findall(text)]


def _title(root: Path, module: str) -> str:
    """Return the heading of a module of commands; one without any serves several."""
    names = ", ".join(f"`pipeline {name}`" for name in sorted(_typed(root, module)))
    return names or f"Several commands: {module}"


def _file(root: Path, module: str) -> Path:
    place = root.joinpath(*module.split("."))
    package = place / "__init__.py"
    return package if package.is_file() else place.with_suffix(".py")


def _section(title: str, root: Path, files: Iterable[Path]) -> str:
    """Return a section with the messages of these files; nothing if they say nothing."""
    lines: list[str] = []
    for file in files:
        said = dict.fromkeys(one.item for one in messages(file))
        if said:
            lines += ["", f"In `{file.relative_to(root)}`:", "", *said]
    return "\n".join([f"## {title}", *lines, ""]) if lines else ""


if __name__ == "__main__":
    here = own_root()
    print(of_command(here, sys.argv[1]) if sys.argv[1:] else page(here), end="")
