"""``pipeline doctor``: tools, versions, what this machine can count, and how to mend findings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

APT = "apt-get install -y --no-install-recommends"
# Packages by program, for the hint beside what is missing.
PACKAGES = {
    "cmake": "cmake",
    "ninja": "ninja-build",
    "valgrind": "valgrind",
    "perf": "linux-perf",
    "git": "git",
    "gcc": "gcc",
    "perl": "perl",
    "sqlite3": "sqlite3",
    "redis-check-rdb": "redis-tools",
}
WORKLOAD_PROGRAMS = ("python3", "git", "gcc", "perl", "sqlite3", "redis-check-rdb")
# A full build keeps about this much below build/, in bytes.
SPACE_WANTED = 500 << 20
WHAT_WIDTH = 17


@dataclass(frozen=True)
class Finding:
    """One line of the doctor: what, how it stands, and how to mend it (empty: nothing to do).

    ``choice`` tells of another way to have it, where neither is a fault.
    """

    what: str
    state: str
    cure: str = ""
    required: bool = False
    choice: str = ""


@click.command("doctor")
def doctor_command() -> int:
    """Check tools, versions, and what this machine can measure."""
    from pipeline.core.exit_codes import ExitCode

    findings = examine()
    for finding in findings:
        click.echo(f"{_mark(finding)} {finding.what:<{WHAT_WIDTH}}  {finding.state}")
        if finding.cure:
            click.echo(f"  {'':<{WHAT_WIDTH}}  to mend it: {finding.cure}")
        for line in finding.choice.splitlines():
            click.echo(f"  {'':<{WHAT_WIDTH}}  {line}")
    if any(finding.choice for finding in findings):
        dash = click.style("-", dim=True)
        click.echo(f"{dash} is no fault: there is another way, if you want it")
    broken = [f for f in findings if f.required and f.cure]
    click.echo(
        f"{len(broken)} of {len(findings)} findings stop a build"
        if broken
        else "everything a build needs is there"
    )
    return ExitCode.TOOL if broken else ExitCode.OK


def examine() -> list[Finding]:
    """Return all findings, required tools first."""
    return [*_llvm(), *_others(), *_workload_programs(), *_machine()]


def _mark(finding: Finding) -> str:
    if finding.choice:
        return click.style("-", dim=True)
    if not finding.cure:
        return click.style("✓", fg="green")
    return click.style("✗", fg="red") if finding.required else click.style("!", fg="yellow")


def _llvm() -> list[Finding]:
    from pipeline.core.errors import ToolError
    from pipeline.toolchain.find import LLVM_PARTS, find_llvm

    try:
        folder = find_llvm()
    except ToolError as error:
        cure = f"{APT} clang-22 lld-22 llvm-22 bolt-22 libclang-rt-22-dev"
        return [Finding("LLVM", error.message, cure, required=True)]
    return [_probed(part, str(folder / part), required=True) for part in LLVM_PARTS]


def _others() -> list[Finding]:
    from pipeline.toolchain.find import OTHER_PARTS

    return [
        *(_probed(name, name, required=True) for name in OTHER_PARTS),
        _probed("perf", "perf", required=False),
    ]


def _probed(name: str, program: str, *, required: bool) -> Finding:
    """Return a finding with the version a program reports, or with the package that has it."""
    import shutil

    from pipeline.core.errors import ToolError
    from pipeline.toolchain.find import probe

    cure = f"{APT} {PACKAGES.get(name, 'llvm-22 bolt-22')}"
    found = shutil.which(program)
    if found is None:
        return Finding(name, "missing", cure, required)
    try:
        return Finding(name, probe(name, Path(found)).version, required=required)
    except ToolError as error:
        return Finding(name, error.message, cure, required)


def _workload_programs() -> list[Finding]:
    from pipeline.stages.build.programs import differing_programs, find_program

    found = {name: find_program(name) for name in WORKLOAD_PROGRAMS}
    return [
        Finding(f"workload {name}", str(path), choice="; ".join(differing_programs([name])))
        if path
        else Finding(
            f"workload {name}",
            "missing: workloads with it are skipped",
            f"{APT} {PACKAGES.get(name, name)}",
        )
        for name, path in found.items()
    ]


def _machine() -> list[Finding]:
    import os
    import shutil

    from pipeline.core.paths import Tree

    free = shutil.disk_usage(Tree.here().root).free
    return [
        _counters(),
        Finding("cores", str(len(os.sched_getaffinity(0)))),
        *huge_page_findings(),
        Finding(
            "free space",
            f"{free >> 20} MiB",
            "" if free > SPACE_WANTED else f"free {SPACE_WANTED >> 20} MiB",
            required=True,
        ),
    ]


def huge_page_findings(folder: Path | None = None) -> list[Finding]:
    """Return what the system allows of huge pages; 2 MiB serve the default, 64 KiB a choice."""
    from pipeline.core import huge_pages as pages

    folder = folder or pages.FOLDER
    large, small = (pages.setting(kib, folder) for kib in (pages.LARGE_KIB, pages.SMALL_KIB))
    cure = pages.line_that_allows(pages.LARGE_KIB, folder) if large == "never" else ""
    allow = pages.line_that_allows(pages.SMALL_KIB, folder)
    forbid = pages.line_that_allows(pages.LARGE_KIB, folder).replace("madvise", "never", 1)
    choice = (
        "optional: HAKMEM_HUGE_PAGES=2 makes most programs faster\n"
        "where the system has these, and none of 2 MiB\n"
        "(docs/results/programs.md). As root, for all programs:\n"
        f"{forbid}\n{allow}"
    )
    return [
        Finding("pages of 2 MiB", pages.meant(large or "this kernel has none"), cure),
        Finding(
            "pages of 64 KiB",
            pages.meant(small or "this kernel has none (Linux 6.8 does)"),
            choice=choice if small == "never" else "",
        ),
    ]


def _counters() -> Finding:
    """Return whether the judge counts by hardware here; otherwise valgrind does."""
    import shutil

    from pipeline.judge.counting.count import choose_source
    from pipeline.judge.request import Tools

    perf = shutil.which("perf")
    source, _ = choose_source(Tools(perf=Path(perf) if perf else None))
    if source.name == "hardware":
        return Finding("hardware counters", "perf counts instructions")
    return Finding(
        "hardware counters",
        "not supported here: valgrind counts instead",
        choice="on bare metal: sysctl kernel.perf_event_paranoid=2; none in a virtual machine",
    )
