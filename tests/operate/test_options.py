"""`hakmem run` refuses values that the library would refuse, and go on without a limit."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from made import ROOT, compile_c, hakmem, library, loads

from operate import options
from pipeline.core.errors import UsageError
from pipeline.core.exit_codes import ExitCode

__all__ = ["compile_c", "library"]
POLICY = ROOT / "allocator/policy"
KNOWN = {
    "HAKMEM_PURGE_DELAY": (0, 3600000),
    "HAKMEM_SOFT_LIMIT": (0, 1 << 48),
    "HAKMEM_HARD_LIMIT": (0, 1 << 48),
}


def refusal(name: str, value: str) -> str:
    """Return why a value is refused; "" if it is not."""
    try:
        options.require(name, value, KNOWN)
    except UsageError as error:
        return error.message
    return ""


@pytest.mark.parametrize("value", ["0", "64K", "10m", "10MB", "10MiB", "1g", "80%", "100%"])
def test_limits_that_the_library_takes(value: str) -> None:
    assert refusal("HAKMEM_HARD_LIMIT", value) == ""


@pytest.mark.parametrize("value", ["40X", "", "-1", "10 M", "0%", "101%", "1.5G", "10BM", "9" * 20])
def test_a_limit_that_would_be_none_is_refused(value: str) -> None:
    assert "also with K, M or G, or a share" in refusal("HAKMEM_HARD_LIMIT", value)


def test_a_forgotten_unit_is_refused_where_nothing_could_be_allocated() -> None:
    assert "10 bytes is too small for any program; write 10M" in refusal("HAKMEM_HARD_LIMIT", "10")
    assert refusal("HAKMEM_SOFT_LIMIT", "10") == ""


@pytest.mark.parametrize("value", ["x", "", "3600001", "5k", "80%", "-1"])
def test_a_number_has_its_range(value: str) -> None:
    assert "a whole number from 0 to 3600000" in refusal("HAKMEM_PURGE_DELAY", value)


def test_paths_are_absolute_and_their_folders_are_there(tmp_path: Path) -> None:
    for name in ("HAKMEM_STATS_SOCKET", "HAKMEM_PROFILE_HEAP"):
        assert refusal(name, f"{tmp_path}/%p.sock") == ""
        assert "must be absolute" in refusal(name, "run/%p.sock")
        assert f"no folder {tmp_path}/none" in refusal(name, f"{tmp_path}/none/x")
    assert "at most 107 bytes" in refusal("HAKMEM_STATS_SOCKET", f"/{'x' * 107}")


def test_a_file_of_options_must_be_there_and_be_believed(tmp_path: Path) -> None:
    file = tmp_path / "conf"
    assert "cannot be read: No such file" in refusal("HAKMEM_CONF", f"file={file}")
    assert "not an absolute path" in refusal("HAKMEM_CONF", "file=conf")
    assert "no regular file" in refusal("HAKMEM_CONF", f"file={tmp_path}")
    file.write_text("# of a limit, x=y\npurge-delay=5, hard_limit = 10M\n", encoding="utf-8")
    file.chmod(0o600)
    assert refusal("HAKMEM_CONF", f"purge_delay=7,file={file}") == ""
    file.chmod(0o622)
    assert "written to by others" in refusal("HAKMEM_CONF", f"file={file}")
    file.chmod(0o600)
    file.write_text("\n" * 4095, encoding="utf-8")
    assert "more than 4,094 bytes" in refusal("HAKMEM_CONF", f"file={file}")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "conf"
    file.touch(0o600)
    os.chown(file, 12345, 12345)
    assert "belongs to another user" in refusal("HAKMEM_CONF", f"file={file}")


def test_entries_of_a_string_and_a_file_are_checked(tmp_path: Path) -> None:
    file = tmp_path / "conf"
    file.write_text("hard_limit=40X\n", encoding="utf-8")
    file.chmod(0o600)
    assert f"{file}: hard_limit=40X: it takes" in refusal("HAKMEM_CONF", f"file={file}")
    wanted = "hard_limt is no option of such a string or file; did you mean hard_limit?"
    assert refusal("HAKMEM_CONF", "hard_limt=4M").endswith(wanted)
    wanted = "/etc/x is no option of such a string or file; did you mean file=/etc/x?"
    assert refusal("HAKMEM_CONF", "/etc/x").endswith(wanted)
    assert refusal("HAKMEM_CONF", "xyz=1").endswith("xyz is no option of such a string or file")
    assert "did you mean hard_limit?" in refusal("HAKMEM_CONF", "hard_limt=4M")


@pytest.mark.parametrize("setting", ["hard-limit=40X", "purge-delay=x", "stats-socket=s"])
def test_run_starts_no_program_with_a_bad_value(library: Path, setting: str) -> None:
    done = hakmem("run", "--library", str(library), "--", setting, "--", "echo", "started")
    assert (done.returncode, done.stdout) == (ExitCode.USAGE, "")


def test_run_looks_at_the_environment_too(library: Path) -> None:
    done = hakmem("run", "--library", str(library), "--", "true", HAKMEM_HARD_LIMIT="40X")
    assert (
        done.returncode == ExitCode.USAGE
        and "HAKMEM_HARD_LIMIT=40X cannot be used: it takes" in done.stderr
    )


def table(file: str, kind: str) -> list[str]:
    return re.findall(rf'^{kind}\(\s*"?(\w+)', (POLICY / file).read_text("utf-8"), re.M)


def test_sizes_and_texts_are_those_of_the_librarys_tables() -> None:
    text = (POLICY / "options.def").read_text("utf-8")
    assert list(options.SIZES) == re.findall(r'"(\w+)", SIZE,', text)
    texts = table("options_text.def", "HAK_TEXT_OPTION")
    assert all(refusal(name, "relative=x") for name in texts)


def test_the_ranges_are_found_in_a_real_library() -> None:
    built = ROOT / "build/clang/lib/libhakmem.so"
    if not loads(built):
        pytest.skip("no library is built: cmake --preset clang && cmake --build --preset clang")
    found = options.ranges(built.read_bytes())
    assert len(found) == len(table("options.def", "HAK_OPTION"))
    assert KNOWN.items() <= found.items()


def test_a_file_without_the_table_has_no_ranges() -> None:
    assert options.ranges(b"no library") == {}
    assert options.ranges(b"HAKMEM_PURGE_DELAY".ljust(40, b"\0")) == {}
