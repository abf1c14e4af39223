"""A running process as /proc tells of it: its files, its variables, who serves its malloc."""

from __future__ import annotations

import argparse
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from operate import allocators
from operate.elf import Elf, NotElf, read
from operate.environment import is_overwritten
from pipeline.core.errors import UsageError

_AT_SECURE = 23
GONE = " (deleted)"
_MOST_LINKS = 40  # as many as Linux follows
PRELOAD_FILE = "etc/ld.so.preload"


def is_gone(path: str) -> bool:
    """Return whether a mapped file was replaced or removed since."""
    return path.endswith(GONE)


def file_name(path: str) -> str:
    """Return the name that a mapped file has or had."""
    return Path(path.removesuffix(GONE)).name


def who_may(owner: int | None, user: int) -> str:
    """Return who may look into a process of ``owner``, where ``user`` may not."""
    if user == 0:
        return (
            "root needs CAP_SYS_PTRACE for it, which containers lack: run this on the host, or "
            "start the container with `--cap-add SYS_PTRACE`; kernel threads have no program"
        )
    if user == owner:
        return "it hides itself from its user, as setuid programs do: run this as root (sudo)"
    whose = "its user" if owner is None else f"its user ({owner})"
    return f"run this as {whose}, or as root (sudo); kernel threads have no program"


def number(word: str) -> int:
    """Return the number of a process; ArgumentTypeError, with what finds it, if it is none."""
    if not (word.isascii() and word.isdigit()):
        raise argparse.ArgumentTypeError(f"{word!r} is no process number; `pgrep {word}` tells it")
    return int(word)


@dataclass(frozen=True)
class Process:
    """The folder of a process below /proc."""

    pid: int
    proc: Path = Path("/proc")

    @property
    def folder(self) -> Path:
        """Its folder."""
        return self.proc / str(self.pid)

    def text(self, name: str, encoding: str = "utf-8") -> str:
        """Return one of its files, "" where the system has none of that name."""
        try:
            return (self.folder / name).read_text(encoding, errors="replace")
        except FileNotFoundError:
            return ""

    def require_readable(self) -> None:
        """Raise UsageError if there is no such process, or it belongs to somebody else."""
        if not self.folder.is_dir():
            raise UsageError(f"there is no process {self.pid}", hint="`ps -e` shows those that run")
        try:
            mapped = self.text("maps")
            self.program()
        except (FileNotFoundError, ProcessLookupError):
            mapped = ""
        except OSError as error:
            raise UsageError(
                f"process {self.pid} cannot be looked into: {error.strerror}",
                hint=who_may(self.owner(), os.geteuid()),
            ) from error
        if not mapped:
            raise UsageError(
                f"process {self.pid} has ended, or is one of the kernel's",
                hint="`ps -e` shows those that run; the kernel's have no program",
            )

    def owner(self) -> int | None:
        """Return the user that it runs as; None where the system does not say."""
        lines = (line.split() for line in self.text("status").splitlines())
        return next((int(words[2]) for words in lines if words[:1] == ["Uid:"]), None)

    def files(self) -> list[str]:
        """Return the paths of the files that are mapped as code, in the order of addresses."""
        lines = (line.split(maxsplit=5) for line in self.text("maps").splitlines())
        paths = [words[5] for words in lines if len(words) == 6 and "x" in words[1]]
        return [path for path in dict.fromkeys(paths) if path.startswith("/")]

    def program(self) -> str:
        """Return the path of its program."""
        return str((self.folder / "exe").readlink())

    def program_elf(self) -> Elf | None:
        """Return what its program says, wherever that lies; None if it cannot be read."""
        try:
            return read(self.folder / "exe")
        except (OSError, NotElf):
            return None

    def is_stopped(self) -> bool:
        """Return whether a signal or a debugger has stopped it."""
        return self.text("stat").rpartition(")")[2].split()[:1] in (["T"], ["t"])

    def command(self) -> str:
        """Return the name that `ps` and `top` show: redis-server, where the file is another's."""
        return self.text("comm").strip()

    def variables(self) -> dict[str, str]:
        """Return the variables that it was started with."""
        pairs = (entry.partition("=") for entry in self.text("environ").split("\0"))
        return {name: value for name, _, value in pairs if name}

    def variables_are_gone(self) -> bool:
        """Return whether the program wrote its title over them, as redis, nginx and postgres do."""
        line = self.text("cmdline", "latin-1")  # a letter for each byte
        return is_overwritten(self.text("environ"), len(line), self.text("stat"))

    def is_secure(self) -> bool:
        """Say whether it was started in secure mode (setuid), in which variables do not count."""
        data = (self.folder / "auxv").read_bytes()
        pairs = struct.iter_unpack("@NN", data[: len(data) // 16 * 16])
        return bool(dict(pairs).get(_AT_SECURE, 0))

    def sees_our_files(self) -> bool:
        """Return whether a path leads it where it leads us.

        In another mount namespace its root is called "/" as ours is, and may be another one; a
        unit of systemd with PrivateTmp has a /tmp of its own.
        """
        own = self.proc / "self"
        return all(
            (self.folder / link).readlink() == (own / link).readlink()
            for link in ("root", "ns/mnt")
        )

    def place(self, path: str) -> Path:
        """Return where a file of its own root can be read, also if it is a container's."""
        return self.folder / "root" / path.removesuffix(GONE).lstrip("/")

    def seen(self, path: str) -> Path:
        """Return where a file that it has mapped can be read.

        The system tells the path from our root: after a chroot it begins with the folder that is
        the root of the process.
        """
        try:
            root = str((self.folder / "root").readlink())
        except OSError:
            root = "/"
        within = root != "/" and path.startswith(f"{root}/")
        return self.place(path.removeprefix(root) if within else path)

    def has_file(self, path: str) -> bool:
        """Return whether a path leads to a file in its own root, also through links."""
        return self.leads_to(path) is not None

    def leads_to(self, path: str) -> Path | None:
        """Return where the file can be read that a path leads to in its own root; None for none.

        The system would follow an absolute link into our root, not into that of the process. A
        relative path begins where it works just now.
        """
        at = self.folder / "cwd" / path if not path.startswith("/") else self.place(path)
        for _ in range(_MOST_LINKS):
            if not at.is_symlink():
                return at if at.exists() else None
            target = str(at.readlink())
            at = self.place(target) if target.startswith("/") else at.parent / target
        return None

    def mapped(self, path: str) -> Path:
        """Return where the very file that is mapped can be read, also if it was replaced since.

        The kernel keeps such a file as map_files/START-END; to open it needs root's rights.
        """
        if not is_gone(path):
            return self.seen(path)
        ends = (line.split(maxsplit=5) for line in self.text("maps").splitlines())
        spans = [words[0] for words in ends if len(words) == 6 and words[5] == path]
        starts = (tuple(f"{int(end, 16):x}" for end in span.split("-")) for span in spans)
        return self.folder / "map_files" / next(("-".join(one) for one in starts), "none")

    def elf(self, path: str) -> Elf | None:
        """Return what a mapped file says; None if it cannot be read."""
        try:
            return read(self.mapped(path))
        except (OSError, NotElf):
            return None

    def preloads(self) -> list[str]:
        """Return what it was to preload: LD_PRELOAD, then the system's own file."""
        named = "" if self.is_secure() else self.variables().get("LD_PRELOAD", "")
        try:
            always = self.place(PRELOAD_FILE).read_text(encoding="utf-8")
        except OSError:
            always = ""
        return [path for path in re.split(r"[ :\n]+", f"{named} {always}") if path]

    def _preloaded(self, objects: dict[str, Elf]) -> list[str]:
        """Return what was preloaded, by names of files.

        Where the variables are gone, these are the mapped files with a malloc that nothing needs;
        the dynamic linker maps what comes first at the highest address.
        """
        if not self.variables_are_gone():
            return [self._real_name(path) for path in self.preloads()]
        needed = {name for elf in objects.values() for name in elf.needed}
        serving = [path for path, elf in objects.items() if elf.exported >= allocators.SERVES]
        names = {path: {file_name(path), objects[path].soname} for path in serving}
        return [file_name(path) for path in reversed(serving) if not names[path] & needed]

    def search_order(self) -> Iterator[tuple[str, Elf]]:
        """Yield its objects in the order in which the dynamic linker looks for a name.

        The program comes first, then what is preloaded, then what these need, level by level.
        """
        objects = {path: elf for path in self.files() if (elf := self.elf(path)) is not None}
        by_name = {elf.soname: path for path, elf in objects.items()}
        by_name |= {file_name(path): path for path in objects}
        by_name[self.program()] = self.program()
        queue = [self.program(), *self._preloaded(objects)]
        while queue:
            path = by_name.get(queue.pop(0), "")
            if path in objects:
                elf = objects.pop(path)
                yield path, elf
                queue.extend(elf.needed)

    def _real_name(self, path: str) -> str:
        """Return the name of the file that a path leads to, through links."""
        return self.place(path).resolve().name

    def server(self) -> str:
        """Return the file whose malloc the process uses; "" if none can be told."""
        order = self.search_order()
        return next((path for path, elf in order if elf.exported >= allocators.SERVES), "")
