"""Every way in which a command can end, as one table of exit codes.

``docs/exit-codes.md`` is generated from :class:`ExitCode`; a test keeps the two together.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of ``pipeline`` and ``bootstrap``, each with its meaning and the cure."""

    meaning: str
    cure: str

    def __new__(cls, value: int, meaning: str, cure: str) -> ExitCode:
        """Make a member that carries its own documentation."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        member.cure = cure
        return member

    OK = 0, "everything asked for was done", "nothing to do"
    INTERNAL = 1, "an error that nobody foresaw", "report it with the log file that is named"
    USAGE = (
        2,
        "the command line was not understood, or names what is not there",
        "see `.venv/bin/pipeline --help`",
    )
    PROFILE = 3, "the profile is unknown or not valid", "mend the key that the message names"
    TOOL = 4, "a tool is missing or too old", "run `./bootstrap doctor`"
    BUILD = 5, "a compiler, linker, BOLT or CMake failed", "read the log that is named"
    WORKLOAD = 6, "a workload crashed or ran into its time limit", "run the line from its log"
    DATA = (
        7,
        "profile data is missing, empty or corrupt; or a bundle is damaged, not signed by whom you "
        "trust, or of other sources",
        "build again with `--from train`; of a bundle do what the message says",
    )
    GATE = 8, "the new build was judged and not published", "do what the message says"
    SPACE = (
        9,
        "no space left, or a folder cannot be written",
        "free space there, get the right to write there, or write elsewhere",
    )
    BUSY = 10, "another run works in this tree", "wait for it, or leave out `--no-wait`"
    TESTS = 11, "at least one test failed", "mend the tests that the summary names"
    PACKAGES = (
        12,
        "packages are missing and cannot be installed",
        "run the line it prints",
    )
    PYTHON = 13, "bootstrap: no Python 3.11 or newer with venv", "install python3 and python3-venv"
    ARTIFACT = (
        14,
        "a tool made something unfit, or a version's files are damaged",
        "do what the message says; without advice, give the command again, then report it",
    )
    VERSION = (
        15,
        "no such version is published, or it was rejected",
        "see `.venv/bin/pipeline list`, or build one",
    )
    REGRESSION = (
        16,
        "the newer of two versions, a reviewed build, or B of `versus` or an experiment, is worse",
        "keep the older one, or accept what the table names",
    )
    UNFIT = (
        17,
        "`hakmem run`: no library can serve this program here",
        "start the program without hakmem, or mend what the message names",
    )
    UNUSED = (
        18,
        "`hakmem check`: malloc of a process is not the library's, or unknown",
        "start the process again with `hakmem run`",
    )
    LIVES = (
        19,
        "`pipeline heap --fail-above`: more memory lives than that",
        "look at the functions named first",
    )
    INTERRUPTED = (
        130,
        "ctrl-C, SIGTERM, or the terminal was closed",
        "the same command again; a build goes on where it was",
    )


def exit_code_page() -> str:
    """Return docs/exit-codes.md. ``python -m pipeline.core.exit_codes`` prints it."""
    rows = [f"| {code.value} | {code.meaning} | {code.cure} |" for code in ExitCode]
    return "\n".join(
        [
            "# Exit codes",
            "",
            "**For people who call `pipeline`, `hakmem` or `bootstrap` from scripts.** Look up here"
            " what a code",
            "means; then you can tell what went wrong and what to do next.",
            "",
            "Every error is a sentence, then what to do about it, and the log file where there is"
            " one.",
            "This page is made from the table in `pipeline/core/exit_codes.py` by",
            "`.venv/bin/python -m pipeline.core.exit_codes > docs/exit-codes.md`.",
            "",
            "| code | meaning | what to do |",
            "| ---: | --- | --- |",
            *rows,
            "",
            "`report --check` ends with 8 where a build was refused or rejected. Who built with",
            "`--allow-regression` has accepted that loss: it ends with 0, and names it on stderr.",
            "`diff` and `review` take no notice of that, and end with 16.",
            "",
            "`experiment run` ends with 16 where B is worse, as `versus` does; the entry has the",
            "verdict all the same.",
            "",
        ]
    )


if __name__ == "__main__":
    print(exit_code_page(), end="")
