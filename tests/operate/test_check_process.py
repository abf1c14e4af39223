"""`hakmem check`: what it says of processes with and without the library."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from made import Compile, built_library, compile_c, hakmem, library, publish

from operate import facts as known
from operate import facts_page, system
from operate.commands import check
from operate.elf import read
from operate.in_force import without_effect
from operate.processes import Process, who_may
from pipeline.core.errors import UsageError
from pipeline.core.exit_codes import ExitCode

__all__ = ["compile_c", "library"]


ECHO = (
    "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF)"
    " { putchar(c); fflush(stdout); } return 0; }"
)


@contextmanager
def running(program: str | Path, **env: str) -> Iterator[int]:
    """A program that waits for its input, and has begun: it has said a line."""
    pipe = subprocess.PIPE
    with subprocess.Popen([program], stdin=pipe, stdout=pipe, env=env, text=True) as child:
        assert child.stdin and child.stdout
        child.stdin.write("a\n")
        child.stdin.flush()
        child.stdout.readline()
        yield child.pid
        child.stdin.close()


@pytest.fixture(scope="session")
def echo(compile_c: Compile) -> Path:
    return compile_c(ECHO)


def facts(pid: int) -> tuple[int, dict[str, object]]:
    done = hakmem("check", "--json", str(pid))
    return done.returncode, json.loads(done.stdout)


def test_a_process_with_the_library(tmp_path: Path, library: Path, echo: Path) -> None:
    version = publish(tmp_path / "dist", library, "mixed", "x86-64")
    place = version / "lib" / "libhakmem.so"
    with running(echo, LD_PRELOAD=str(place), HAKMEM_PURGE_DELAY="9") as pid:
        code, found = facts(pid)
        said = hakmem("check", str(pid)).stdout
    assert code == 0
    assert found["serves_malloc"] is True
    assert found["malloc_from"] == str(place)
    assert found["options"] == {"HAKMEM_PURGE_DELAY": "9"}
    assert found["other_allocators"] == found["preload_failed"] == []
    known = found["library"]
    assert isinstance(known, dict) and known["path"] == str(place) and known["build_id"]
    assert "malloc is hakmem's  yes\n" in said and said.count(str(place)) == 1


def test_workers_are_checked_at_once(tmp_path: Path, library: Path, echo: Path) -> None:
    place = publish(tmp_path / "dist", library, "mixed", "x86-64") / "lib" / "libhakmem.so"
    ours = {"LD_PRELOAD": str(place)}
    with running(echo, **ours) as one, running(echo, **ours) as two, running(echo) as without:
        good = hakmem("check", str(one), str(two))
        bad = hakmem("check", str(without), str(one))
    assert (good.returncode, bad.returncode) == (ExitCode.OK, ExitCode.UNUSED)
    assert [page.split(",")[0].split()[1] for page in good.stdout.split("\n\n")] == [
        str(one),
        str(two),
    ]
    assert good.stdout.count("malloc is hakmem's  yes\n") == 2
    assert bad.stdout.count("malloc is hakmem's") == 2


def test_a_process_that_has_ended_hides_no_other(tmp_path: Path, library: Path, echo: Path) -> None:
    place = publish(tmp_path / "dist", library, "mixed", "x86-64") / "lib" / "libhakmem.so"
    ended = subprocess.Popen([echo], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # nobody else gets its number
    with running(echo, LD_PRELOAD=str(place)) as one, running(echo) as without:
        good = hakmem("check", str(ended.pid), str(one))
        bad = hakmem("check", str(without), str(ended.pid), str(one))
        lines = hakmem("check", "--json", str(one), str(ended.pid), str(without)).stdout
    ended.wait()
    assert (good.returncode, bad.returncode) == (ExitCode.USAGE, ExitCode.UNUSED)
    assert f"error: process {ended.pid} has ended" in good.stderr
    assert "`ps -e` shows those that run" in good.stderr
    assert good.stdout.startswith("process ") and good.stdout.count("malloc is hakmem's") == 1
    assert bad.stdout.count("malloc is hakmem's") == 2
    found = [json.loads(line) for line in lines.splitlines()]
    assert [process["pid"] for process in found] == [one, without]
    assert [process["serves_malloc"] for process in found] == [True, False]


def test_a_process_that_ends_meanwhile_is_told_as_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    child = subprocess.Popen(["sleep", "60"])

    def facts(process: Process) -> dict[str, object]:
        child.kill()
        child.wait()
        return {"serves_malloc": False, "program": process.program()}

    monkeypatch.setattr(check, "facts", facts)
    assert check.run(Namespace(pids=[child.pid], json=True)) == ExitCode.USAGE


def test_the_manifest_counts_only_for_its_own_bytes(
    tmp_path: Path, library: Path, echo: Path
) -> None:
    version = publish(tmp_path / "dist", library, "mixed", "x86-64")
    place = version / "lib" / "libhakmem.so"
    manifest = version / "manifest.json"

    def seen() -> tuple[object, object]:
        with running(echo, LD_PRELOAD=str(place)) as pid:
            known = facts(pid)[1]["library"]
        assert isinstance(known, dict)
        return known["version"], known["profile"]

    said = json.loads(manifest.read_text(encoding="utf-8"))
    said["files"] = {"lib/libhakmem.so": hashlib.sha256(place.read_bytes()).hexdigest()}
    manifest.write_text(json.dumps(said), encoding="utf-8")
    assert seen() == ("1.0-aa", "mixed")
    said["files"] = {"lib/libhakmem.so": "0" * 64}
    manifest.write_text(json.dumps(said), encoding="utf-8")
    assert seen() == (None, None)


def _installed(prefix: Path, library: Path, version: str, more: bytes = b"") -> Path:
    """Install a version as `pipeline install` does: each file is renamed into its place."""
    place, manifest = prefix / "lib/libhakmem.so", prefix / "share/hakmem/manifest.json"
    for path in (place, manifest):
        path.parent.mkdir(parents=True, exist_ok=True)
    data = library.read_bytes() + more
    said = {"profile": "mixed", "version": version}
    files = {"lib/libhakmem.so": hashlib.sha256(data).hexdigest()}
    manifest.write_text(json.dumps({**said, "files": files}), encoding="utf-8")
    (prefix / "new").write_bytes(data)
    (prefix / "new").rename(place)
    return place


def _root_only(pid: int) -> None:
    """Skip where the kernel shows the bytes of a replaced file to nobody of our rights."""
    try:
        next((Path("/proc") / str(pid) / "map_files").iterdir()).read_bytes()
    except OSError as error:
        pytest.skip(f"map_files cannot be read here: {error.strerror}")


@pytest.mark.parametrize("then", ["upgrade", "same again", "uninstall"])
def test_a_library_whose_file_was_replaced_still_serves(
    tmp_path: Path, library: Path, echo: Path, then: str
) -> None:
    place = _installed(tmp_path, library, "1.0-old")
    with running(echo, LD_PRELOAD=str(place)) as pid:
        _root_only(pid)
        if then == "uninstall":
            place.unlink()
        else:
            new = ("1.0-new", b"more") if then == "upgrade" else ("1.0-old", b"")
            _installed(tmp_path, library, *new)
        code, found = facts(pid)
        said = hakmem("check", str(pid)).stdout
    known = found["library"]
    assert isinstance(known, dict)
    assert (code, found["serves_malloc"], known["replaced_since"]) == (0, True, True)
    assert known["build_id"] == read(library).build_id
    assert known["version"] == ("1.0-old" if then == "same again" else None)
    gone = "removed" if then == "uninstall" else "replaced"
    named = ", 1.0-old" if then == "same again" else ""
    assert f"yes, by a file since {gone}{named}; " in said and "1.0-new" not in said
    own = str(known["build_id"])
    finds = f"ls dist/*/*/lib/debug/.build-id/{own[:2]}/{own[2:8]}*"
    assert (finds in said) is (then != "same again")


def test_a_replaced_file_that_may_not_be_read_is_unknown_and_never_no(
    tmp_path: Path, library: Path, echo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = _installed(tmp_path, library, "1.0-old")
    monkeypatch.setattr(Process, "mapped", _refused)
    with running(echo, LD_PRELOAD=str(place)) as pid:
        _installed(tmp_path, library, "1.0-new", b"more")
        found = known.facts(Process(pid))
    assert found["serves_malloc"] is None and found["malloc_from"] is None
    assert found["library"]["version"] is None
    assert "malloc is hakmem's  unknown: " in "\n".join(facts_page.lines(found))


def _refused(process: Process, path: str) -> Path:
    """Where a replaced file would be, if nobody may read it."""
    return Path("/nowhere") if path.endswith(" (deleted)") else process.place(path)


def test_a_process_without_it(echo: Path) -> None:
    with running(echo) as pid:
        code, found = facts(pid)
        said = hakmem("check", str(pid)).stdout
    assert code == ExitCode.UNUSED
    assert found["library"] is None and found["serves_malloc"] is False
    assert "libc.so" in str(found["malloc_from"])
    assert "NO: it comes from" in said
    assert "not loaded; `hakmem run -- PROGRAM` starts a program with it" in said


def test_a_process_that_has_loaded_nothing_yet_is_unknown_and_never_no(
    echo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(echo) as pid:
        monkeypatch.setattr(Process, "files", lambda process: [process.program()])
        found = known.facts(Process(pid))
    assert found["serves_malloc"] is None and found["malloc_from"] is None
    said = "\n".join(facts_page.lines(found))
    assert "malloc is hakmem's  unknown: no file that it has loaded has malloc" in said
    assert "Ask again" in said and "hakmem run" not in said


def test_a_library_that_is_loaded_and_not_first(
    compile_c: Compile, library: Path, echo: Path
) -> None:
    text = (
        "#include <stddef.h>\nextern void *__libc_malloc(size_t); extern void __libc_free(void *);"
    )
    text += (
        "void *malloc(size_t n) { return __libc_malloc(n); } void free(void *p) { __libc_free(p); }"
    )
    other = compile_c(text, "-shared", "-fPIC", name="libmimalloc.so.2")
    with running(echo, LD_PRELOAD=f"{other} {library}") as pid:
        code, found = facts(pid)
    assert code == ExitCode.UNUSED
    assert found["malloc_from"] == str(other)
    assert found["other_allocators"] == [f"mimalloc ({other}), which serves malloc"]


def test_a_library_that_comes_second_is_said_to_serve_nothing(
    compile_c: Compile, library: Path, echo: Path
) -> None:
    other = compile_c("int unused;", "-shared", "-fPIC", name="libjemalloc.so.2")
    with running(echo, LD_PRELOAD=f"{library} {other}") as pid:
        code, found = facts(pid)
    assert code == ExitCode.OK
    assert found["other_allocators"] == [f"jemalloc ({other}), whose malloc is not used"]


def test_a_program_started_by_another_name_is_told_by_both(tmp_path: Path, echo: Path) -> None:
    other = tmp_path / "redis-server"
    other.symlink_to(echo)
    with running(other) as pid:
        found = facts(pid)[1]
        said = hakmem("check", str(pid)).stdout
    assert (found["command"], found["program"]) == ("redis-server", str(echo))
    assert f"{pid}, redis-server\n" in said and f"{echo}\n" in said


def test_a_program_that_writes_over_its_environment(compile_c: Compile, library: Path) -> None:
    text = "#include <stdio.h>\n#include <string.h>\nextern char **environ;"
    text += "int main(void) { for (char **e = environ; *e; e++) memset(*e, 0, strlen(*e));"
    text += "int c; while ((c = getchar()) != EOF) { putchar(c); fflush(stdout); } return 0; }"
    with running(compile_c(text), LD_PRELOAD=str(library)) as pid:
        code, found = facts(pid)
        said = hakmem("check", str(pid)).stdout
    assert code == 0
    assert found["malloc_from"] == str(library)
    assert found["options"] is None
    assert "unknown: the program wrote over its environment" in said
    assert f"`hakmem top --once --json {pid}`" in said  # not broken by the end of a line


@pytest.mark.parametrize(("title", "begins"), [("worker of a=b, ", 3), ("a=b", 0), ("é=é", 0)])
def test_a_title_that_looks_like_a_variable_is_none(
    title: str, begins: int, compile_c: Compile, library: Path
) -> None:
    """`check` said that no option was set, and that malloc is libc's."""
    text = "#include <stdio.h>\n#include <string.h>\nextern char **environ;"
    text += "int main(int n, char **words) { char *end = words[0];"
    text += "for (char **e = environ; *e; e++) end = *e + strlen(*e);"
    text += f"size_t room = end - words[0], begins = environ[0] - words[0] - {begins};"
    text += "memset(words[0], 'x', begins); memset(words[0] + begins, 0, room - begins);"
    text += f'memcpy(words[0] + begins, "{title}", strlen("{title}"));'
    text += "int c; while ((c = getchar()) != EOF) { putchar(c); fflush(stdout); } return 0; }"
    with running(compile_c(text), LD_PRELOAD=str(library), HAKMEM_PURGE_DELAY="7") as pid:
        shown = Path(f"/proc/{pid}/environ").read_text("utf-8").rstrip("\0")
        code, found = facts(pid)
    assert "=" in shown
    assert (code, found["malloc_from"], found["options"]) == (0, str(library), None)


def test_a_preload_that_failed_is_named(echo: Path) -> None:
    with running(echo, LD_PRELOAD="/nowhere/libhakmem.so") as pid:
        code, found = facts(pid)
    assert code == ExitCode.UNUSED
    assert found["preload_failed"] == ["/nowhere/libhakmem.so"]
    assert found["preload_reasons"] == {"/nowhere/libhakmem.so": "there is no such file"}


def test_a_preload_that_failed_is_looked_for_in_the_root_of_the_process(tmp_path: Path) -> None:
    """As in a container: a root of its own, with an absolute link; here the file lies elsewhere."""
    ours = tmp_path / "libhakmem.so"
    ours.touch()
    root = tmp_path / "7/root"
    (root / "opt").mkdir(parents=True)
    (root / "opt/libhakmem.so").touch()
    (root / "opt/link.so").symlink_to("/opt/libhakmem.so")
    (root / "opt/lost.so").symlink_to(str(ours))
    (root / "opt/round.so").symlink_to("round.so")
    (tmp_path / "7/cwd").symlink_to(root / "opt")

    def has(path: str | Path) -> bool:
        return Process(7, tmp_path).has_file(str(path))

    assert has("/opt/libhakmem.so") and has("/opt/link.so") and has("./link.so")
    assert not (has(ours) or has("/opt/lost.so") or has("/opt/round.so") or has("./libhak.so"))


@pytest.mark.skipif(os.geteuid() != 0, reason="chroot is root's")
def test_a_program_in_a_chroot_is_told_of_its_own_files(tmp_path: Path, compile_c: Compile) -> None:
    shutil.copy(compile_c(ECHO, "-static"), tmp_path / "echo")
    (tmp_path / "libhakmem.so").write_text("no library", encoding="utf-8")
    preload = "/libhakmem.so /gone/libhakmem.so"
    start = (
        f'import os; os.chroot("."); os.execve("/echo", ["echo"], {{"LD_PRELOAD": "{preload}"}})'
    )
    pipe = subprocess.PIPE
    argv = [sys.executable, "-c", start]
    with subprocess.Popen(argv, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe) as child:
        assert child.stdin and child.stdout
        child.stdin.write(b"a\n")
        child.stdin.flush()
        started = child.stdout.readline() == b"a\n"
        found = known.facts(Process(child.pid)) if started else {}
        child.stdin.close()
    if not started:
        pytest.skip("chroot does not work here")
    assert found["preload_reasons"] == {
        "/libhakmem.so": "a statically linked program loads nothing",
        "/gone/libhakmem.so": "there is no such file",
    }


def test_a_static_program_is_told_as_such(compile_c: Compile, library: Path) -> None:
    with running(compile_c(ECHO, "-static"), LD_PRELOAD=str(library)) as pid:
        code, found = facts(pid)
        said = hakmem("check", str(pid)).stdout
    assert code == ExitCode.UNUSED and found["is_static"] and not found["is_go"]
    assert "NO: it is statically linked, so nothing can be preloaded\n" in said
    assert "hakmem run" not in said and "a statically linked program loads nothing" in said


@pytest.mark.parametrize("how", ["-pie", "-static", "-static-pie"])
@pytest.mark.parametrize("strip", [(), ("-s",)], ids=["whole", "stripped"])
def test_a_library_that_is_linked_in_serves_malloc(
    compile_c: Compile, how: str, strip: tuple[str, ...]
) -> None:
    """Of a static or stripped program it said no, while `hakmem top` showed its figures."""
    archive = built_library().with_name("libhakmem.a")
    text = f"#include <stdlib.h>\n{ECHO}".replace("int c;", "int c; free(malloc(1));")
    flags = ("-fno-builtin", "-fPIE", how, *strip, str(archive), "-pthread")
    program = compile_c(text, *flags)
    with running(program) as pid:
        code, found = facts(pid)
        said = hakmem("check", str(pid)).stdout
    assert code == ExitCode.OK and found["serves_malloc"]
    assert found["malloc_from"] == str(program) and f"yes: it comes from {program}\n" in said
    assert "linked into the program" in said


def test_of_a_go_program_malloc_is_not_all(compile_c: Compile, library: Path) -> None:
    text = f'const char go[] __attribute__((used)) = "\\xff Go buildinf:";\n{ECHO}'
    with running(compile_c(text), LD_PRELOAD=str(library)) as pid:
        code, found = facts(pid)
        said = hakmem("check", str(pid)).stdout
    assert code == ExitCode.OK and found["is_go"] and not found["is_static"]
    assert "Go's own heap is not malloc's" in said


def test_what_a_process_maps_after_a_chroot_is_named_from_our_root(tmp_path: Path) -> None:
    root = tmp_path / "jail"
    (root / "lib").mkdir(parents=True)
    (root / "lib/libhakmem.so").touch()
    (tmp_path / "7").mkdir()
    (tmp_path / "7/root").symlink_to(root)
    jailed = Process(7, tmp_path)
    for path in (f"{root}/lib/libhakmem.so", "/lib/libhakmem.so"):
        assert jailed.seen(path) == tmp_path / "7/root/lib/libhakmem.so"
        assert jailed.mapped(path).is_file()
    assert jailed.seen(f"{root}2/lib") == jailed.place(f"{root}2/lib")


@pytest.mark.parametrize("pid", ["4194305", "2"])
def test_no_such_process_or_none_with_a_program(pid: str) -> None:
    done = hakmem("check", pid)
    assert done.returncode == ExitCode.USAGE
    assert "Traceback" not in done.stderr and "pipeline" not in done.stderr


@pytest.mark.parametrize("files", [{}, {"enabled": "always [madvise] never"}])
def test_a_kernel_without_pages_of_64_kib(tmp_path: Path, files: dict[str, str]) -> None:
    assert _huge_pages(tmp_path, files)["of_64_KiB"] == "not in this kernel"


def test_pages_of_64_kib_and_the_line_that_allows_them(tmp_path: Path) -> None:
    name = "hugepages-64kB/enabled"
    found = _huge_pages(tmp_path, {name: "always inherit madvise [never]"})
    assert found["of_64_KiB"] == "never"
    assert str(found["to_allow_64_KiB"]).startswith("echo madvise > ")
    assert str(found["to_allow_64_KiB"]).endswith(f"/{name}")
    found = _huge_pages(tmp_path, {name: "always inherit [madvise] never"})
    assert found["of_64_KiB"] == "madvise"
    assert "to_allow_64_KiB" not in found


def test_huge_pages_are_told_in_words_with_the_line_that_allows_them(tmp_path: Path) -> None:
    files = {"enabled": "always [madvise] never", "hugepages-64kB/enabled": "always [never]"}
    rows = dict(facts_page._huge_page_rows(_huge_pages(tmp_path, files)))
    assert rows["  of 2 MiB"] == "programs that ask get them, as hakmem does (madvise)"
    assert rows["  of 64 KiB"] == "no program gets them (never)"
    assert rows["to allow 64 KiB"].endswith("/hugepages-64kB/enabled")
    assert len(rows["  of 2 MiB"]) <= 60  # beside the name, on a terminal of 80 columns


def test_a_setting_of_two_words_is_read_whole(tmp_path: Path) -> None:
    """As kernels have it since 4.11: the judge, the bench and `check` read it by one function."""
    found = _huge_pages(tmp_path, {"defrag": "always defer [defer+madvise] madvise never"})
    assert found["defrag"] == "defer+madvise"
    assert found["enabled"] == "none"


def _huge_pages(root: Path, files: dict[str, str]) -> system.Facts:
    """Return what is told of a system whose settings of huge pages are these files."""
    for name, text in files.items():
        file = root / "sys/kernel/mm/transparent_hugepage" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n", encoding="ascii")
    return system.huge_pages(Process(7, root / "proc"), root)


def test_limits_of_the_library_are_kept_apart_from_those_of_others() -> None:
    """`cgroup hard none` was read as: HAKMEM_HARD_LIMIT is not in force."""
    limits = {"data": None, "mappings": 65530, "cgroup_hard": None, "cgroup_soft": 5 << 20}
    options = {"HAKMEM_HARD_LIMIT": "64M", "HAKMEM_PRESSURE": "10"}
    others = [
        ("limits of system", "data none, mappings 65530"),
        ("limits of cgroup", "hard none, soft 5.0 MiB"),
    ]
    ours = ("limits by options", "HAKMEM_HARD_LIMIT=64M")
    assert facts_page._limit_rows(limits, options) == [ours, *others]
    assert facts_page._limit_rows(limits, {}) == others


def test_limits_of_the_cgroup_are_the_smallest_above(tmp_path: Path) -> None:
    inner = tmp_path / "sys/fs/cgroup/a/b"
    inner.mkdir(parents=True)
    for folder, hard in ((inner.parent, "5000"), (inner, "max")):
        (folder / "memory.max").write_text(hard + "\n", encoding="utf-8")
    proc = tmp_path / "proc/7"
    proc.mkdir(parents=True)
    (proc / "cgroup").write_text("0::/a/b\n", encoding="utf-8")
    found = system.cgroup(Process(7, tmp_path / "proc"), tmp_path)
    assert found == {"cgroup_hard": 5000, "cgroup_soft": None}


def test_limits_of_the_first_kind_of_cgroup(tmp_path: Path) -> None:
    inner = tmp_path / "sys/fs/cgroup/memory/a"
    inner.mkdir(parents=True)
    (inner / "memory.limit_in_bytes").write_text("7000\n", encoding="utf-8")
    (inner.parent / "memory.limit_in_bytes").write_text("9223372036854771712\n", encoding="utf-8")
    proc = tmp_path / "proc/7"
    proc.mkdir(parents=True)
    (proc / "cgroup").write_text("5:cpu:/x\n4:memory:/a\n", encoding="utf-8")
    found = system.cgroup(Process(7, tmp_path / "proc"), tmp_path)
    assert found == {"cgroup_hard": 7000, "cgroup_soft": None}


def test_who_may_not_look_into_a_process_is_told_who_may(tmp_path: Path) -> None:
    (tmp_path / "77" / "maps").mkdir(parents=True)  # cannot be read, as somebody else's
    (tmp_path / "77" / "status").write_text("Name:\tx\nUid:\t7\t8\t9\t9\n", encoding="utf-8")
    process = Process(77, tmp_path)
    assert process.owner() == 8
    with pytest.raises(UsageError, match="process 77 cannot be looked into"):
        process.require_readable()


@pytest.mark.parametrize(
    ("owner", "user", "words"),
    [
        (8, 9, "run this as its user (8), or as root (sudo)"),
        (8, 8, "hides itself from its user"),
        (None, 9, "run this as its user, or as root"),
        (8, 0, "--cap-add SYS_PTRACE"),
    ],
)
def test_the_advice_is_for_who_asks(owner: int | None, user: int, words: str) -> None:
    assert words in who_may(owner, user)


def test_options_are_those_of_the_start_and_fit_the_terminal() -> None:
    path = "/run/" + "x" * 90
    said = {"HAKMEM_CONF": f"file={path}", "HAKMEM_PURGE_DELAY": "9", "HAKMEM_QUIET": "1"}
    rows = facts_page._option_rows(said, 7)
    assert rows == [
        ("options at start", f"HAKMEM_CONF=file={path}"),
        ("", "HAKMEM_PURGE_DELAY=9 HAKMEM_QUIET=1"),
    ]
    assert facts_page._option_rows({}, 7) == [("options at start", "none set")]


def test_options_without_effect_are_told(library: Path, echo: Path) -> None:
    """They stood there without a word, as if they were in force."""
    values = {
        "HAKMEM_PURGE_DELAY": "9",
        "HAKMEM_PURGE_DELEY": "9",
        "HAKMEM_HARD_LIMIT": "lots",
        "HAKMEM_SOFT_LIMIT": "80%",
        "HAKMEM_STATS_SOCKET": "shop.sock",
    }
    with running(echo, LD_PRELOAD=str(library), **values) as pid:
        found = known.facts(Process(pid))
        told = {
            "HAKMEM_PURGE_DELEY": "no such option",
            "HAKMEM_HARD_LIMIT": "not usable",
            "HAKMEM_STATS_SOCKET": "not usable",
        }
        for limit, share in ((None, {"HAKMEM_SOFT_LIMIT": "limits nothing"}), (1 << 30, {})):
            limits = {"cgroup_hard": limit}
            assert without_effect(Process(pid), str(library), values, limits) == told | share
    rows = [row.strip() for row in facts_page.lines(found)]
    assert any(row.endswith("HAKMEM_PURGE_DELEY=9 (no such option)") for row in rows), rows


def test_a_name_that_is_no_text_neither_ends_it_nor_steers_the_terminal(
    tmp_path: Path, echo: Path
) -> None:
    odd = shutil.copy2(echo, tmp_path / "a\udcff\x1b[31m\nprocess  1")
    with running(odd) as pid:
        done = hakmem("check", str(pid), PYTHONIOENCODING="utf-8:strict")
        assert done.stderr == ""
    assert f"program             {tmp_path}/a  [31m process  1\n" in done.stdout


def test_what_would_be_done_is_shown_also_with_a_name_that_is_no_text(library: Path) -> None:
    words = ("run", "--show", "--library", str(library), "--", "ls", "a\udcff")
    done = hakmem(*words, PYTHONIOENCODING="utf-8:strict")
    assert done.stdout.endswith(" ls 'a\\udcff'\n"), done.stderr
