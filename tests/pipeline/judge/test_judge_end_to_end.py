"""The judge on real processes: toy libraries of known worth, really preloaded, timed, counted."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pytest
from toys_support import make_toys, needs_valgrind, quiet, request, timed_alone

from pipeline.core.errors import ArtifactError, WorkloadError
from pipeline.judge import judging
from pipeline.judge.judging import judge
from pipeline.judge.model import VerifyResult
from pipeline.judge.publishing import may_publish
from pipeline.judge.verdict import Verdict


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_toys(tmp_path_factory.mktemp("toys"))


@needs_valgrind
def test_a_faster_library_passes_and_a_slower_one_does_not(built: Path, tmp_path: Path) -> None:
    # It stops when it has decided; a noisy machine may need the time.
    asked = dataclasses.replace(request(built, tmp_path, "slow", "fast"), time_budget_s=20.0)
    gain = judge(dataclasses.replace(asked, logs=tmp_path / "1"), quiet)
    assert gain.keys.throughput.verdict is Verdict.GO
    assert gain.throughput.overall.value > 1.2
    assert may_publish(gain, False)[0]
    turned = dataclasses.replace(asked, baseline=asked.tuned, tuned=asked.baseline)
    loss = judge(dataclasses.replace(turned, logs=tmp_path / "2"), quiet)
    assert loss.keys.throughput.verdict is Verdict.NO_GO
    assert not may_publish(loss, True)[0]


@needs_valgrind
def test_a_result_says_everything_about_itself_and_survives_json(
    built: Path, tmp_path: Path
) -> None:
    lines: list[str] = []
    result = judge(request(built, tmp_path, "slow", "fast"), lines.append)
    assert VerifyResult.model_validate_json(result.model_dump_json()) == result
    assert result.schema_version == 3
    assert result.counting.source == "valgrind"
    assert "perf is not installed" in result.counting.why
    assert result.environment.tools["perf"] == "not installed"
    assert result.environment.tools["valgrind"].startswith("3.")
    assert result.environment.cores >= 1
    assert result.baseline.sha256 != result.tuned.sha256
    assert result.baseline.text_bytes > 0
    assert len(result.throughput.workloads[0].samples) == result.throughput.pairs >= 10
    assert any("counting toy, 1 of 1 (valgrind" in line for line in lines)
    assert any("health: python" in line for line in lines)


def test_the_seconds_of_a_judgement_hold_its_check_of_itself(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]

    def check(*_: object) -> None:
        clock[0] += 1000

    monkeypatch.setattr(judging, "check", check)
    monkeypatch.setattr(judging, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    assert judge(request(built, tmp_path, "fast", "fast"), quiet).seconds == 1000


def test_a_json_result_with_an_unknown_field_is_refused(built: Path, tmp_path: Path) -> None:
    data = judge(timed_alone(built, tmp_path, "fast", "fast"), quiet).model_dump(mode="json")
    assert VerifyResult.model_validate(data)
    with pytest.raises(ValueError, match="Extra inputs"):
        VerifyResult.model_validate(data | {"surprise": 1})
    with pytest.raises(ValueError, match="schema_version"):
        VerifyResult.model_validate(data | {"schema_version": 1})


@needs_valgrind
def test_the_same_library_twice_is_neutral_on_the_icache_key(built: Path, tmp_path: Path) -> None:
    result = judge(request(built, tmp_path, "fast", "fast"), quiet)
    assert result.keys.icache.verdict is Verdict.NEUTRAL
    counts = result.counting.workloads[0]
    assert counts.baseline == counts.tuned
    (program,) = result.programs
    assert program.baseline and program.tuned
    assert program.baseline.i1_misses == pytest.approx(program.tuned.i1_misses, rel=0.01)


def test_an_error_names_workload_and_side(built: Path, tmp_path: Path) -> None:
    asked = timed_alone(built, tmp_path, "fast", "crashing")
    with pytest.raises(WorkloadError, match=r"toy \(tuned\).*SIGSEGV"):
        judge(asked, quiet)


def test_a_file_that_is_no_library_is_refused_before_anything_runs(
    built: Path, tmp_path: Path
) -> None:
    (tmp_path / "text.so").write_text("not a library")
    asked = request(built, tmp_path / "logs", "fast", "fast")
    with pytest.raises(ArtifactError, match="ELF"):
        judge(dataclasses.replace(asked, tuned=tmp_path / "text.so"), quiet)
