"""``pipeline test --changed``: what a change touches, in under a minute.

Two tables say which tests a changed file asks for: ``C_TESTS`` names ctest's, ``PYTHON_TESTS``
pytest's. A Python module also asks for the test files that import it, any other file for those
that name it. Everything else is ``pipeline test``'s.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePosixPath

from pipeline.commands.suites import NAMING, QUICK_TESTS, Step, clang, formatted, jobs, quiet

SHARED = "shared_programs"
"""The target of a variant that makes the programs of clang's build, which its tests run."""

LONG = "slow|sanitizer|cuts"
"""Labels of tests that `pipeline test` runs and the quick loop leaves out."""

C_TESTS = (
    ("allocator/guard/*", "guard", "^misuse[.]"),
    ("allocator/research/*", "research", "^research[.]"),
    (
        "allocator/*.[chd]*",
        "clang",
        "^unit[.]|^interface[.]|^docs[.]|^boxes[.]{folder}_|^boxes[.]reclaim_",
    ),
    ("tests/allocator/misuse/*", "clang hardened guard", "^(misuse|docs)[.]"),
    ("tests/allocator/guard/*", "guard", "^guard[.]"),
    ("tests/allocator/hardened/*", "hardened", "^hardened[.]"),
    ("tests/allocator/research/*", "research", "^research[.]"),
    ("tests/allocator/whole/*", "clang", "^whole[.]{name}[.]"),
    ("tests/allocator/faults/*", "clang", "^faults[.]all_requests$"),
    ("tests/allocator/runners/expect_end.c", "clang", "^misuse[.]"),
    ("tests/allocator/runners/fail_calls.c", "clang", "^faults[.]all_requests$"),
    ("tests/allocator/support/*", "clang", "^unit[.]|^interface[.]"),
    ("tests/allocator/cuts/*", "", ""),
    ("tests/allocator/*.c", "clang", "^{folder}[.]{name}$"),
    ("tests/allocator/*.cpp", "clang", "^{folder}[.]{name}$"),
    ("tests/allocator/*.cmake", "clang", "^unit[.]"),
    ("tests/model/*", "clang", "^model[.]"),
    ("tests/fuzz/*", "clang", "^fuzz[.](replay|freely)$"),
    ("bench/*.[ch]", "clang", "^bench[.]"),
    ("training/*.[ch]", "clang", "^training[.]"),
    ("*CMakeLists.txt", "clang", "^unit[.]"),
    ("docs/misuse.md", "clang", "^docs[.]misuse$"),
    ("docs/options.md", "clang", "^docs[.]options$"),
)
"""Pattern of a path, presets, pattern of test names; {folder} and {name} are the file's.

The first row that fits counts. One without presets stands for tests that the quick loop leaves out.

ctest takes 31 groups in a pattern, and a change may touch each folder: so that row has none.
Giving memory back needs all folders of the allocator, so a change of any asks for its tests.
"""

PYTHON_TESTS = (
    ("*.md", "tests/pipeline/test_docs.py"),
    ("docs/*.md", "tests/pipeline/test_jargon.py"),
    ("docs/geometry.md", "tests/pipeline/geometry"),
    ("docs/allocator.md", "tests/pipeline/test_allocator_page.py"),
    ("docs/block-paths.md", "tests/pipeline/test_allocator_page.py"),
    ("docs/promises.md", "tests/pipeline/test_allocator_page.py"),
    ("docs/experiments.md", "tests/pipeline/test_ledger.py"),
    ("docs/experiments/*", "tests/pipeline/test_ledger.py"),
    ("pipeline/run.py", "tests/pipeline/test_docs.py"),
    ("pyproject.toml", "tests/pipeline/test_docs.py"),
    ("*.lock", "tests/pipeline/test_docs.py"),
    ("bootstrap", "tests/pipeline/test_bootstrap.py"),
    ("layouts/*", "tests/pipeline/layout"),
    ("layouts/*", "tests/pipeline/test_marks.py"),
    ("layouts/*", "tests/pipeline/geometry"),
    ("allocator/*.[ch]", "tests/pipeline/test_allocator_order.py"),
    ("allocator/*.[ch]", "tests/pipeline/test_marks.py"),
    ("allocator/*.[ch]", "tests/pipeline/test_constants.py"),
    ("allocator/*.def", "tests/pipeline/test_constants.py"),
    ("allocator/*.def", "tests/pipeline/geometry"),
    ("allocator/*.def", "tests/pipeline/test_option_names.py"),
    ("training/profiles/*", "tests/pipeline/test_profile.py"),
    ("training/profiles/*", "tests/pipeline/test_marks.py"),
    ("packaging/*", "tests/operate/test_recipes.py"),
    ("tests/pipeline/report/golden/*", "tests/pipeline/report"),
    ("pipeline/report/templates/*", "tests/pipeline/report"),
    ("pipeline/*.py", "tests/pipeline/test_messages.py"),
    ("pipeline/*.py", "tests/pipeline/test_pipeline_order.py"),
    ("operate/*.py", "tests/pipeline/test_messages.py"),
    ("bench/*.py", "tests/pipeline/test_messages.py"),
)
"""Pattern of a path, file or folder of tests."""


def changed_files(root: Path, since: str) -> list[str]:
    """Return what differs from a commit, deleted or not, and new files that git does not ignore."""
    from pipeline.core.errors import UsageError
    from pipeline.core.process import run

    git = ("git", "-C", root)
    differs = (*git, "diff", "-z", "--name-only", "--no-renames", "--relative", since, "--")
    fresh = (*git, "ls-files", "-z", "--others", "--exclude-standard")
    known = run(differs, expect=None)
    if known.returncode != 0:
        raise UsageError(
            f"git cannot compare with {since!r}: {known.stderr.strip().partition(chr(10))[0]}",
            hint="name a branch, a tag or a commit: `git log --oneline` shows some",
        )
    found = (known.stdout + run(fresh).stdout).split("\0")
    return sorted({path for path in found if path and not (root / path).is_dir()})


def steps_for(paths: Iterable[str], root: Path) -> dict[str, list[Step]]:
    """Return the commands that test these files, by suite."""
    paths = list(paths)
    there = [path for path in paths if (root / path).exists()]
    python = [path for path in there if path.endswith(".py")]
    sources = [path for path in there if path.endswith((".c", ".h"))]
    here = Path(sys.executable).parent
    todo: dict[str, list[Step]] = {}
    if python:
        todo["ruff"] = quiet([here / "ruff", "check", *python])
        todo["ruff"] += quiet([here / "ruff", "format", "--check", *python])
    if any(path.endswith(".py") for path in paths):
        todo["mypy"] = quiet([here / "mypy"])
    if sources:
        todo["format"] = formatted(sources)
    built = [path for path in paths if path in there or path.startswith("allocator/")]
    todo |= {preset: _preset(preset, names, root) for preset, names in c_tests(built).items()}
    if tests := python_tests(paths, root):
        argv = (sys.executable, "-m", "pytest", "-q", *NAMING, "-m", QUICK_TESTS, *tests)
        todo["pytest"] = [Step(argv, shown=True)]
    return todo


def c_tests(paths: Iterable[str]) -> dict[str, str]:
    """Return which tests of ctest the files ask for, as a pattern for each preset."""
    wanted: dict[str, set[str]] = {}
    for path in paths:
        file = PurePosixPath(path)
        row = next((row for row in C_TESTS if fnmatch(path, row[0])), None)
        if row is not None:
            names = row[2].format(folder=file.parent.name, name=file.stem)
            for preset in row[1].split():
                wanted.setdefault(preset, set()).add(names)
    return {preset: "|".join(sorted(names)) for preset, names in wanted.items()}


def python_tests(paths: Iterable[str], root: Path) -> list[str]:
    """Return the test files and folders of pytest that the files ask for."""
    return sorted(set().union(*(asked_by(path, root) for path in paths)))


@cache
def asked_by(path: str, root: Path) -> frozenset[str]:
    """Return the test files and folders that one file asks for; a command reads them once."""
    if fnmatch(path, "tests/*/test_*.py"):
        wanted = {path} if (root / path).exists() else set()
    else:
        wanted = importers(path, root) if path.endswith(".py") else readers(path, root)
    by_table = {tests for pattern, tests in PYTHON_TESTS if fnmatch(path, pattern)}
    return frozenset(wanted | by_table)


def importers(path: str, root: Path) -> set[str]:
    """Return the test files that import a module, or a helper beside them by its bare name."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    names = {module, PurePosixPath(path).stem} if path.startswith("tests/") else {module}
    tests = sorted((root / "tests").rglob("test_*.py"))
    return {str(test.relative_to(root)) for test in tests if names & _imports(test)}


def readers(path: str, root: Path) -> set[str]:
    """Return the test files that name a file in a string of their code, whole or part by part."""
    parts = " / ".join(f'"{part}"' for part in PurePosixPath(path).parts)
    tests = sorted((root / "tests").rglob("test_*.py"))
    texts = {str(test.relative_to(root)): test.read_text(encoding="utf-8") for test in tests}
    return {
        test
        for test, text in texts.items()
        if parts in text or (path in text and path in _said(text))
    }


def _said(text: str) -> str:
    """Return all strings of a file's code; its docstrings are none."""
    tree = ast.parse(text)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return "\n".join(str(node.value) for node in strings if id(node) not in docs)


def _imports(test: Path) -> set[str]:
    """Return the modules that a file names: `from a import b` may mean a or a.b."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def _preset(preset: str, names: str, root: Path) -> list[Step]:
    """Return how to build what the tests with these names need, and to run them."""
    from pipeline.core.process import run

    build = root / "build" / preset
    configure = ("cmake", "--preset", preset, f"-DCMAKE_C_COMPILER={clang()}")
    made = (build / "build.ninja").is_file()
    if not made and run(configure, cwd=root, expect=None).returncode != 0:
        return [Step(configure)]  # which says why
    ctest = ("ctest", "--test-dir", build, "--no-tests=error", "-LE", LONG, "-R", names)
    return [
        Step(("cmake", "--build", build, "--target", *needs(ctest, build))),
        Step((*ctest, "--output-on-failure", "-j", str(jobs())), shown=True),
    ]


def needs(ctest: Sequence[str | Path], build: Path) -> list[str]:
    """Return the targets that tests run or preload: files of the build folder that they name."""
    from pipeline.core.process import run

    # CMake lists programs and tests that are new. Where it fails, the build says why.
    run(("ninja", "-C", build, "build.ninja"), expect=None)
    listed = json.loads(run((*ctest, "--show-only=json-v1")).stdout)["tests"]
    lines = _lines_of({one["name"] for one in listed}, build)
    named = re.findall(rf"{re.escape(str(build))}/([\w./-]+)", lines)
    targets = run(("ninja", "-C", build, "-t", "targets", "all")).stdout
    known = {line.partition(":")[0] for line in targets.splitlines()}
    return sorted(known & {*named, SHARED}) or ["all"]


def _lines_of(names: set[str], build: Path) -> str:
    """Return what CMake says of some tests: ctest names no program that was never built."""
    head = re.compile(r"(?:add_test|set_tests_properties)\((?:\[=*\[)?([^\s\]]+)")
    text = "\n".join(path.read_text("utf-8") for path in build.rglob("CTestTestfile.cmake"))
    lines = ((head.match(line), line) for line in text.splitlines())
    return "\n".join(line for found, line in lines if found and found[1] in names)
