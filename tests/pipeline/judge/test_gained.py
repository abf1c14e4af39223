"""What a build is published for, in words that promise no more than was shown."""

from __future__ import annotations

from judge_support import pairs, program_of, result_of, throughput_of

from pipeline.judge.gained import gains

SAME = (program_of("git", 4.0, 4.0),)


def test_speed_of_programs_is_speed() -> None:
    timed = throughput_of(("git",), git=pairs(1.05), loop=pairs(1.05))
    assert gains(result_of(timed, programs=SAME)) == ("speed",)


def test_a_gain_of_loops_beside_programs_is_not_called_their_speed() -> None:
    timed = throughput_of(("git",), git=pairs(1.0), loop=pairs(1.08))
    assert gains(result_of(timed, programs=SAME)) == ("speed over all workloads",)


def test_misses_and_memory_are_gains_of_their_own() -> None:
    timed = throughput_of(mixed=pairs(1.0, rss=(4096, 3600)))
    fewer = (program_of("git", 4.0, 3.0),)
    assert gains(result_of(timed, programs=fewer)) == ("fewer I-cache misses", "less memory")
    assert gains(result_of(throughput_of(mixed=pairs(1.0)), programs=SAME)) == ()
