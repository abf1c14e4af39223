"""A profile for somebody's own program, as commented TOML."""

from __future__ import annotations

import json
from collections.abc import Sequence

_HEAD = """\
# The profile {name}. Every key is described in docs/profiles.md. To switch on a line such as
# `#name = "..."`, remove its "#".
schema_version = 1
name = {name}
description = {description}

[layout]
name = "mixed"                   # the order of symbols: layouts/mixed/hot.txt and cold.txt
must_be_hot = ["hak_malloc", "hak_free"]       # stop if the training does not run these

# ---- training: what the library is compiled for --------------------------------------------------
# `weight` is the share of the library's work that a workload stands for.
"""

_COMMAND = """\

# The program itself. It starts in the root of this tree (or with scratch = true in an empty folder)
# and has to end by itself; a server needs a script that starts it, asks it something, and stops it.
# A build trains again when a file changes that is a word of `argv`. Programs that a script calls,
# and files that are named elsewhere, belong in `needs`, here and below.
[[workload]]
name = "{name}"
kind = "command"
role = "train"
argv = [{argv}]
#needs = ["/absolute/path/of/your-server", "/absolute/path/of/query.sql"]
weight = 3
timeout_s = 300
"""

_TRACE = """\

# A recording, replayed. To make it:  .venv/bin/pipeline record -o {file} -- YOUR PROGRAM
[[workload]]
name = "{name}"
kind = "trace"
role = "{role}"
trace = "{file}"
ops = "2M"                       # calls in a run; beyond the recording's end it begins again
quick_ops = "500k"               # the same for --quick
{count}weight = 3
"""

_COUNT = """\
count_ops = "200k"               # the same for counting instructions under valgrind
"""

_MIXED = """\

# A program of ours that asks for a little of everything, so that paths which the program above did
# not take are not slow.
[[workload]]
name = "mixed-sizes"
kind = "program"
role = "train"
program = "training/mixed_sizes"
ops = "2M"
quick_ops = "300k"
weight = 0.5

# ---- judging: what decides whether a library is published --------------------------------------
# Speed and memory are judged by the workloads with role = "verify" and a weight. The third key is
# how often the library's code misses the processor's instruction cache (I-cache). These misses are
# simulated in gcc, python3, redis and sqlite3, and in workloads here that say `counted`. Fewer are
# a reason to publish only if a verify command here runs one of those, or says `counted`.
"""

_RECORDED = """\

# A recording of the same program, replayed: its calls of malloc and free alone, so gains are larger
# than in the program. Give it another input than in training, or the judgement is about what the
# library was compiled for; until then a build has a note. `first` and `events` choose a part of a
# long run.
[[workload]]
name = "{name}-played"
kind = "trace"
role = "verify"
record = [{argv}]
events = "1M"
ops = "2M"                       # calls in a run; beyond the recording's end it begins again
quick_ops = "500k"               # the same for --quick
count_ops = "200k"               # the same for counting instructions under valgrind
weight = 3
timeout_s = 300
"""

_HEALTH = """\

# The health check: the program must print the same with the library as without. Without one nothing
# is published, so take another command if its output differs from run to run. `env` gives memory
# back to the system after 10 ms, so that more of the library runs than in training.
[[workload]]
name = "{name}-health"
kind = "command"
role = "verify"
argv = [{argv}]
env = {{ HAKMEM_PURGE_DELAY = "10" }}
timeout_s = 300

# The whole program, timed with either library: what your users will notice. To have it, remove each
# "#" and change the input: a build refuses the very command of the training here. Its time is that
# of all its processes, a client's too, which hides what its server gains. For a shell
# script give `time_of` the name of your server: then it alone is timed.
# One worker that is asked over one connection means `threads = 1`, which narrows the intervals.
# Then several runs go at once, so each needs a port and files of its own.
#[[workload]]
#name = "{name}-whole"
#kind = "command"
#role = "verify"
#argv = [{argv}]
#weight = 3                     # its share, beside the weights of the others
#threads = {threads}                    # how many of all processes work at once{whose}
{time_of}#timeout_s = 300

# Its cache misses, counted in a simulation, 50 to 100 times as slow: give it a shorter input. After
# 300 s it is left out. Without it fewer misses of other programs publish nothing.
# `counted = true` counts the first word of `argv`, and a name counts a program that it starts: for
# a script the name of your server. docs/profiles.md says what its driver must do.
#[[workload]]
#name = "{name}-counted"
#kind = "command"
#role = "verify"
#argv = [{argv}]
#counted = {counted}
#timeout_s = 300
"""

_ANY_HEALTH = """\

# The health check: a program must print the same with the library as without. Without one nothing
# is published. Put your own program here, with an input that makes it print the same each time, as
# in argv = ["/absolute/path/of/your-program", "--self-test"].
[[workload]]
name = "{name}-health"
kind = "command"
role = "verify"
argv = ["sh", "-c", "seq 200000 | sort -r | sha256sum"]
"""


def render_profile(name: str, command: Sequence[str], *, server: str | None = None) -> str:
    """Return the profile ``name`` for ``command``, or for two recordings where it is empty.

    ``server`` is the program that counts where the command only starts others, as a shell does.
    """
    if command:
        argv = ", ".join(_text(word) for word in command)
        training = _COMMAND.format(name=name, argv=argv)
        judging = _RECORDED.format(name=name, argv=argv)
        counted = _text(server) if server else "true"
        time_of = f"#time_of = {counted}".ljust(32) + "# without its client\n" if server else ""
        threads, whose = (2, ", those of a client, too") if server else (1, "")
        health = _HEALTH.format(
            name=name, argv=argv, counted=counted, time_of=time_of, threads=threads, whose=whose
        )
    else:
        training, judging = _recording(name, "train"), _recording(name, "verify")
        health = _ANY_HEALTH.format(name=name)
    shown = " ".join(command) or "two recordings"
    description = _text(f"Made for: {shown}"[:200])
    head = _HEAD.format(name=_text(name), description=description)
    return head + training + _MIXED + judging + health


def _recording(name: str, role: str) -> str:
    both = f"{name}-{role}"
    count = _COUNT if role == "verify" else ""
    return _TRACE.format(name=both, role=role, file=f"{both}.trace", count=count)


def _text(word: str) -> str:
    """Return a TOML string: JSON's escapes are TOML's, except that DEL must be escaped too."""
    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")
