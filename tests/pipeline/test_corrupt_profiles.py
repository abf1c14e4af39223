"""Raw profiles that cannot be read are left out and named; when none is left it is an error."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Sandbox

from pipeline.core.errors import DataError
from pipeline.core.process import run
from pipeline.core.receipt import read_receipt
from pipeline.core.store import Artifact
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.merge import function_counts, merge
from pipeline.stages.pgo.optimize import stale_functions
from pipeline.stages.pgo.train import Training
from pipeline.toolchain.find import find_llvm
from pipeline.toolchain.profdata import total_count


@pytest.fixture
def shop(built: Sandbox, tmp_path: Path) -> Workshop:
    return built.workshop(tmp_path / "store")


@pytest.fixture
def training(built: Sandbox, tmp_path: Path) -> Iterator[Training]:
    folder = tmp_path / "train"
    shutil.copytree(built.artifacts("train")[-1], folder)
    receipt = read_receipt(folder)
    assert receipt is not None
    yield Training(Artifact(folder, receipt, fresh=False), {"mixed-sizes": 1000, "shell": 10}, {})


def test_one_corrupt_profile_is_left_out_and_named(shop: Workshop, training: Training) -> None:
    victim = training.raw("shell")[0]
    victim.write_bytes(b"not a profile" * 100)
    made = merge(shop, training)
    assert made.path.stat().st_size > 0
    corrupt = made.artifact.receipt.notes["corrupt"]
    assert corrupt == [f"shell/{victim.name}"]


def test_a_corrupt_profile_is_no_work(shop: Workshop, training: Training) -> None:
    tool, raw = shop.tools.path("llvm-profdata"), training.raw("shell")
    whole = total_count(tool, raw)
    part = total_count(tool, raw[1:])
    raw[0].write_bytes(b"not a profile" * 100)
    assert 0 < total_count(tool, raw) == part < whole


def test_factors_multiply_counts(shop: Workshop, training: Training) -> None:
    once = merge(shop, Training(training.artifact, {"mixed-sizes": 1}, {}))
    single = function_counts(shop, once.path)["hak_malloc"]
    seven = merge(shop, Training(training.artifact, {"mixed-sizes": 7}, {}))
    assert function_counts(shop, seven.path)["hak_malloc"] == 7 * single


def test_all_corrupt_is_an_error(shop: Workshop, training: Training) -> None:
    for name in ("mixed-sizes", "shell"):
        for raw in training.raw(name):
            raw.write_bytes(b"\0" * 64)
    with pytest.raises(DataError) as caught:
        merge(shop, training)
    assert "build --profile tiny --from train" in caught.value.hint


def test_stale_profiles_are_read_from_the_compilers_words(tmp_path: Path) -> None:
    source, raw, data = tmp_path / "a.c", tmp_path / "a.profraw", tmp_path / "a.profdata"
    llvm = find_llvm()
    source.write_text("int f(int n) { return n; } int main(void) { return f(0); }\n")
    program = tmp_path / "a"
    run([llvm / "clang", "-O0", "-fprofile-generate", source, "-o", program])
    run([program], env={"LLVM_PROFILE_FILE": str(raw)})
    run([llvm / "llvm-profdata", "merge", raw, "-o", data])
    use: list[str | Path] = [llvm / "clang", "-c", f"-fprofile-use={data}", source]
    use += ["-o", tmp_path / "a.o"]
    assert stale_functions(run(use).stderr) == []
    source.write_text("int f(int n) { return n > 3 ? 1 : n; } int main(void) { return f(0); }\n")
    assert stale_functions(run(use).stderr) == ["f"]
