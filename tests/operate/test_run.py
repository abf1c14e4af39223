"""`hakmem run`: which library, which programs, what the program finds in its environment."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest
from made import Compile, built_library, compile_c, hakmem, library, publish

from operate import elf, libraries, programs
from operate.commands import run as command
from operate.libraries import Library
from pipeline.core.errors import ProfileError, UnfitError, VersionError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.processor import Processor

__all__ = ["compile_c", "library"]


def test_the_program_has_the_library_in_front_and_its_options(library: Path) -> None:
    done = hakmem(
        *("run", "--library", str(library), "--", "purge-delay=7", "stats-socket=/s", "--", "env"),
        LD_PRELOAD="/nowhere/other.so",
    )
    assert f"LD_PRELOAD={library}:/nowhere/other.so" in done.stdout.splitlines()
    assert "HAKMEM_PURGE_DELAY=7" in done.stdout.splitlines()
    assert "HAKMEM_STATS_SOCKET=/s" in done.stdout.splitlines()


def test_exit_code_and_signals_are_the_programs(library: Path) -> None:
    begin = ("run", "--library", str(library), "--")
    assert hakmem(*begin, "sh", "-c", "exit 7").returncode == 7
    assert hakmem(*begin, "sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM


def test_options_of_the_program_are_its_own(library: Path) -> None:
    done = hakmem("run", "--library", str(library), "echo", "--help", "--", "a=b", "-x")
    assert done.stdout == "--help -- a=b -x\n"


def test_an_option_that_the_library_lacks_is_named(library: Path) -> None:
    done = hakmem("run", "--library", str(library), "purge-dely=7", "true")
    assert done.returncode == ExitCode.USAGE
    assert "no option HAKMEM_PURGE_DELY" in done.stderr
    assert "did you mean HAKMEM_PURGE_DELAY?" in done.stderr


@pytest.mark.parametrize(("name", "code"), [("no-such-program", 127), ("/etc/passwd", 126)])
def test_a_program_that_cannot_start_ends_as_in_a_shell(
    name: str, code: int, library: Path
) -> None:
    assert hakmem("run", "--library", str(library), name).returncode == code


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no library\n", encoding="utf-8")
    done = hakmem("run", "--library", str(text), "--", "true")
    assert done.returncode == ExitCode.USAGE
    assert f"error: {text} is no ELF file\n" in done.stderr
    assert "what to do: give the path of a libhakmem.so" in done.stderr


def test_without_a_program_the_hint_shows_how(library: Path) -> None:
    done = hakmem("run", "--library", str(library), "--")
    assert done.returncode == ExitCode.USAGE
    assert "hakmem run -- PROGRAM" in done.stderr


def refusal(program: Path, library: Path) -> str:
    with pytest.raises(UnfitError) as caught:
        programs.require_fit(programs.look_up(str(program)), library, elf.read(library))
    assert caught.value.exit_code == ExitCode.UNFIT
    return caught.value.message


def test_programs_that_cannot_be_served_are_refused(compile_c: Compile, library: Path) -> None:
    plain = "int main(void) { return 0; }"
    exports = "#include <stddef.h>\nvoid *malloc(size_t n) { (void)n; return 0; }"
    exports += "void free(void *p) { (void)p; }" + plain
    assert "statically linked" in refusal(compile_c(plain, "-static"), library)
    assert "a malloc of its own" in refusal(compile_c(exports, "-rdynamic"), library)
    asan = compile_c("void __asan_init(void) {}\n" + exports, "-rdynamic")
    assert "AddressSanitizer" in refusal(asan, library)


def test_a_program_for_another_libc_is_refused(compile_c: Compile, library: Path) -> None:
    linker = "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"
    program = compile_c("int main(void) { return 0; }", linker)
    assert "uses musl" in refusal(program, library)


def test_a_library_for_a_newer_glibc_is_refused(
    compile_c: Compile, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dynamic linker does not only warn there: it ends the program."""
    needs = elf.read(library).glibc
    assert (2, 1) < needs <= programs.system_glibc()
    monkeypatch.setattr(os, "confstr", lambda _name: "glibc 2.1")
    program = compile_c("int main(void) { return 0; }")
    wanted = ".".join(map(str, needs))
    assert f"needs glibc {wanted} or newer, and this system has 2.1" in refusal(program, library)
    own = compile_c("int main(void) { return 0; }", "-Wl,--dynamic-linker=/nix/ld-linux.so.2")
    programs.require_fit(programs.look_up(str(own)), library, elf.read(library))
    monkeypatch.setattr(os, "confstr", lambda _name: None)  # nobody can tell
    programs.require_fit(programs.look_up(str(program)), library, elf.read(library))


def test_a_program_of_32_bits_or_another_machine_is_refused(
    compile_c: Compile, library: Path
) -> None:
    program = compile_c("int main(void) { return 0; }")
    data = bytearray(program.read_bytes())
    data[18] = 183  # e_machine
    program.write_bytes(data)
    assert "is for aarch64" in refusal(program, library)
    data[4] = 1  # EI_CLASS
    program.write_bytes(data)
    assert "is a 32-bit program" in refusal(program, library)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_setuid_program_is_refused(compile_c: Compile, library: Path) -> None:
    program = compile_c("int main(void) { return 0; }")
    os.chown(program, 1, 1)
    program.chmod(0o4755)
    assert "is setuid" in refusal(program, library)


def test_what_to_do_with_a_static_program(compile_c: Compile, library: Path) -> None:
    plain = "int main(void) { return 0; }"
    go = f'const char go[] __attribute__((used)) = "\\xff Go buildinf:";\n{plain}'
    for text, advice in ((plain, "link it with libhakmem.a"), (go, "Go's heap is its own")):
        program = compile_c(text, "-static")
        said = hakmem("run", "--library", str(library), "--", str(program))
        assert said.returncode == ExitCode.UNFIT and said.stderr.count(str(program)) == 1
        assert advice in said.stderr


@pytest.mark.parametrize("how", ["-pie", "-static"])
def test_what_to_do_with_a_program_that_has_it(compile_c: Compile, library: Path, how: str) -> None:
    """It was said to run without hakmem, which is linked into it."""
    archive = built_library().with_name("libhakmem.a")
    flags = (how, "-fPIE", "-s", str(archive), "-pthread")
    program = compile_c("#include <stdlib.h>\nint main(void) { free(malloc(1)); }", *flags)
    said = hakmem("run", "--library", str(library), "--", str(program))
    assert said.returncode == ExitCode.UNFIT
    assert "has hakmem linked in" in said.stderr and "start it by itself" in said.stderr


def test_a_script_is_what_its_interpreter_is(compile_c: Compile, library: Path) -> None:
    program = compile_c("int main(void) { return 0; }", "-static")
    script = program.parent / "script"
    script.write_text(f"#!{program} -x\n", encoding="utf-8")
    script.chmod(0o755)
    assert "statically linked" in refusal(script, library)
    script.write_text(f"#!/usr/bin/env -S A=1 {program}\n", encoding="utf-8")
    assert "statically linked" in refusal(script, library)


def test_other_allocators_are_named(compile_c: Compile) -> None:
    other = compile_c("void mallctl(void) {}", "-shared", "-fPIC", name="libjemalloc.so.2")
    program = compile_c("int main(void) { return 0; }", "-Wl,--no-as-needed", str(other))
    preloads = ["/usr/lib/libmimalloc.so.2", "/old/libhakmem.so"]
    said = "\n".join(programs.remarks(programs.look_up(str(program)), preloads))
    assert "is linked with jemalloc (" in said
    assert "LD_PRELOAD has mimalloc" in said
    assert "LD_PRELOAD has /old/libhakmem.so already" in said
    inside = compile_c("void _rjem_malloc(void) {} int main(void) { return 0; }")
    assert "has jemalloc inside" in "\n".join(programs.remarks(programs.look_up(str(inside)), []))


def test_the_profile_and_the_processor_choose(tmp_path: Path, library: Path) -> None:
    for profile, kinds in (("mixed", ["intel-haswell"]), ("server", [])):
        publish(tmp_path / "dist", library, profile, "x86-64", *kinds)

    def found(profile: str | None, cpu: str | None, machine: str) -> tuple[str, str, str]:
        one = libraries.find(profile, cpu, machine, [tmp_path])
        return one.profile, one.cpu, one.level

    assert found(None, None, "amd-zen4") == ("mixed", "any", "x86-64")
    assert found(None, None, "intel-haswell") == ("mixed", "intel-haswell", "x86-64-v3")
    assert found(None, "any", "intel-haswell") == ("mixed", "any", "x86-64")
    assert found("server", None, "intel-haswell") == ("server", "any", "x86-64")
    with pytest.raises(VersionError, match="published: mixed, server"):
        found("shop", None, "amd-zen4")
    with pytest.raises(VersionError) as misspelt:
        found("sever", None, "amd-zen4")
    assert misspelt.value.hint.startswith("did you mean --profile server? Else, in the repository,")
    with pytest.raises(VersionError, match="it has: any, intel-haswell") as caught:
        found("mixed", "amd-zen4", "amd-zen4")
    assert caught.value.hint.startswith(
        "`.venv/bin/pipeline build --profile mixed --cpu all` makes"
    )


def test_the_profile_has_a_short_form_as_in_the_pipeline(tmp_path: Path) -> None:
    done = hakmem("run", "--prefix", str(tmp_path), "-p", "shop", "--", "true")
    assert "no library for profile 'shop' is published" in done.stderr


@pytest.mark.parametrize("stray", ["--library", "--profile=kv"])
def test_an_option_behind_the_program_is_told_to_go_before_it(tmp_path: Path, stray: str) -> None:
    """The hint was: name a file by --library. That was done."""
    done = hakmem("run", "--prefix", str(tmp_path), "true", stray, "/x.so")
    name = stray.partition("=")[0]
    assert f"{name} stands behind true, so it is an option of true" in done.stderr
    assert f"go before the program, as in `hakmem run {name} ... -- true`" in done.stderr


def test_an_installed_library_is_found(tmp_path: Path, library: Path) -> None:
    for name in ("share/hakmem", "lib/x86_64-linux-gnu"):
        (tmp_path / name).mkdir(parents=True)
    shutil.copy2(library, tmp_path / "lib/x86_64-linux-gnu")
    said = json.dumps({"profile": "mixed"})
    (tmp_path / "share/hakmem/manifest.json").write_text(said, encoding="utf-8")
    found = libraries.find(None, None, "other", [tmp_path])
    assert found.path == tmp_path / "lib/x86_64-linux-gnu/libhakmem.so"
    assert libraries.named(found.path).profile == "mixed"


def test_before_anything_is_published_the_hint_can_be_typed_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(VersionError, match="for profile 'kvd' is published") as refused:
        libraries.find("kvd", None, "other", [tmp_path])
    hint = refused.value.hint
    assert "`.venv/bin/pipeline build --profile kvd`" in hint
    assert "`.venv/bin/pipeline install --profile kvd --prefix /usr/local`" in hint
    with pytest.raises(VersionError, match="no library is published") as bare:
        libraries.find(None, None, "other", [tmp_path])
    assert "`.venv/bin/pipeline build`" in bare.value.hint
    assert "the package libhakmem" in bare.value.hint  # what a server without the tree can do


def test_a_profile_that_there_is_not_is_told_where_nothing_is_published(tmp_path: Path) -> None:
    profiles = tmp_path / "training/profiles"
    profiles.mkdir(parents=True)
    for name in ("mixed", "server"):
        (profiles / f"{name}.toml").touch()
    with pytest.raises(ProfileError, match="unknown profile 'sever'; known: mixed, server") as typo:
        libraries.find("sever", None, "other", [tmp_path])
    assert typo.value.hint == "did you mean --profile server?"
    with pytest.raises(ProfileError, match="unknown profile 'qqq'") as other:
        libraries.find("qqq", None, "other", [tmp_path])
    assert "`.venv/bin/pipeline init NAME -- YOUR PROGRAM` makes a new one" in other.value.hint
    with pytest.raises(VersionError, match="no library for profile 'server' is published"):
        libraries.find("server", None, "other", [tmp_path])


def test_a_prefix_without_a_library_is_named(tmp_path: Path) -> None:
    done = hakmem("run", "--prefix", str(tmp_path), "--", "true")
    assert f"no library is published or installed below {tmp_path}\n" in done.stderr


def test_where_all_versions_were_rejected_it_says_how_one_becomes_current(
    tmp_path: Path, library: Path
) -> None:
    publish(tmp_path / "dist", library, "mixed", "x86-64")
    (tmp_path / "dist/mixed/current").unlink()
    for profile in (None, "mixed"):
        with pytest.raises(VersionError, match="no version of profile 'mixed' is current") as none:
            libraries.find(profile, None, "other", [tmp_path])
        assert "`.venv/bin/pipeline rollback -p mixed --to VERSION`" in str(none.value.hint)
        assert "`.venv/bin/pipeline reject -p mixed VERSION --undo`" in str(none.value.hint)


def test_in_place_of_what_was_rejected_no_other_profile_is_taken_without_a_word(
    tmp_path: Path, library: Path
) -> None:
    publish(tmp_path / "dist", library, "mixed", "x86-64")
    publish(tmp_path / "dist", library, "kv", "x86-64")
    (tmp_path / "dist/mixed/current").unlink()
    with pytest.raises(VersionError, match="no version of profile 'mixed' is current") as none:
        libraries.find(None, None, "other", [tmp_path])
    assert "--profile takes another profile's library: kv" in str(none.value.hint)
    assert libraries.find("kv", None, "other", [tmp_path]).profile == "kv"
    shutil.rmtree(tmp_path / "dist/mixed")
    assert libraries.find(None, None, "other", [tmp_path]).profile == "kv"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[]", "it is not a manifest"),
        (None, "No such file or directory"),
    ],
    ids=range(4),
)
def test_a_manifest_that_cannot_be_read_is_named(
    tmp_path: Path, library: Path, text: str | None, reason: str
) -> None:
    publish(tmp_path / "dist", library, "kv", "x86-64")
    manifest = publish(tmp_path / "dist", library, "mixed", "x86-64") / "manifest.json"
    manifest.unlink()
    if text is not None:
        manifest.write_text(text, encoding="utf-8")
    said = f"the manifest of version 1.0-aa cannot be read: {manifest}: {reason}"
    for profile in (None, "mixed"):
        with pytest.raises(VersionError) as refused:
            libraries.find(profile, None, "other", [tmp_path])
        assert refused.value.message == said
        assert "`.venv/bin/pipeline rollback -p mixed`" in str(refused.value.hint)
    assert libraries.find("kv", None, "other", [tmp_path]).profile == "kv"


def test_an_installed_manifest_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "share/hakmem").mkdir(parents=True)
    (tmp_path / "share/hakmem/manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(VersionError, match=r"installed version, cannot be read: it is not JSON"):
        libraries.find(None, None, "other", [tmp_path])


def test_the_variant_chooses_among_trees_and_prefixes(tmp_path: Path, library: Path) -> None:
    publish(tmp_path / "dist", library, "mixed", "x86-64")
    with pytest.raises(VersionError, match="no hardened library") as refused:
        libraries.find(None, None, "other", [tmp_path], "hardened")
    assert "pipeline build --variant hardened" in str(refused.value.hint)
    version = publish(tmp_path / "dist", library, "mixed+hardened", "x86-64", "intel-haswell")
    for folder in ("lib", "lib/intel-haswell"):
        (version / folder / "libhakmem.so").rename(version / folder / "libhakmem-hardened.so")

    def found(variant: str) -> str:
        one = libraries.find(None, None, "intel-haswell", [tmp_path], variant)
        return str(one.path.relative_to(tmp_path / "dist"))

    assert found("production") == "mixed/current/lib/libhakmem.so"
    own = "mixed+hardened/current/lib/intel-haswell/libhakmem-hardened.so"
    assert found("hardened") == own
    assert libraries.named(tmp_path / "dist" / own).cpu == "intel-haswell"


def test_an_installed_variant_is_found_beside_production(tmp_path: Path, library: Path) -> None:
    for name in ("hakmem", "hakmem-hardened"):
        (tmp_path / "share" / name).mkdir(parents=True)
        said = json.dumps({"profile": "mixed", "version": name})
        (tmp_path / "share" / name / "manifest.json").write_text(said, encoding="utf-8")
        (tmp_path / "lib").mkdir(exist_ok=True)
        shutil.copy2(library, tmp_path / "lib" / f"lib{name}.so")
    for variant, name in (("production", "hakmem"), ("hardened", "hakmem-hardened")):
        one = libraries.find(None, None, "other", [tmp_path], variant)
        assert (one.path.name, one.version) == (f"lib{name}.so", name)
        assert libraries.named(one.path).version == name


def test_a_library_that_the_processor_cannot_run_is_refused() -> None:
    old = Processor("intel-nehalem", "an old one", frozenset(["cx16", "popcnt", "ssse3"]))
    library = Library(Path("/x/libhakmem.so"), {"processor": {"march": "x86-64-v3"}})
    with pytest.raises(UnfitError, match=r"compiled for x86-64-v3.*an old one.*lacks .*avx2"):
        command.require_instructions(library, old)
    for level in ("x86-64", "armv8.1-a"):
        manifest = {"processor": {"march": level}}
        command.require_instructions(Library(library.path, manifest), old)


def test_a_prefix_that_is_named_is_the_only_place(tmp_path: Path, library: Path) -> None:
    place, share = tmp_path / "lib/libhakmem.so", tmp_path / "share/hakmem"
    place.parent.mkdir()
    share.mkdir(parents=True)
    shutil.copy2(library, place)
    said = {"profile": "mixed", "processor": {"march": "x86-64"}}
    (share / "manifest.json").write_text(json.dumps(said), encoding="utf-8")
    done = hakmem("run", "--prefix", str(tmp_path), "--show", "--", "/bin/true")
    assert done.returncode == 0 and str(place) in done.stdout
    done = hakmem("run", "--prefix", str(tmp_path / "none"), "--show", "--", "/bin/true")
    assert done.returncode == ExitCode.VERSION


@pytest.mark.parametrize(
    ("processor", "cpu", "told"),
    [
        ({"cut_for": "amd-zen3"}, "any", "amd-zen3"),
        ({"cut_for": "any"}, "any", "any"),
        ({}, "any", "any"),
        ({}, "amd-zen4", "amd-zen4"),
    ],
)
def test_a_library_says_which_processor_it_was_built_for(
    processor: dict[str, str], cpu: str, told: str
) -> None:
    manifest = {"processor": processor, "beside": {"amd-zen4": {"processor": processor}}}
    assert Library(Path("/x/libhakmem.so"), manifest, cpu).built_for == told
