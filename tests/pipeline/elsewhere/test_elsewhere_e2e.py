"""A library that a worker of Dask has made lies beside ours, and only what was ordered is taken.

The worker is honest: it is of this machine's kind. It is we who take ourselves for another one.
"""

from __future__ import annotations

import json
import platform
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Sandbox, make_sandbox
from elsewhere_support import cluster_of, needs_extra

from pipeline import run
from pipeline.core.console import open_console
from pipeline.core.digest import digest_bytes
from pipeline.core.errors import PipelineError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.core.processor import Processor, machine
from pipeline.core.store import Store
from pipeline.elsewhere.order import SENT_BACK, Made
from pipeline.profile.load import load_profile
from pipeline.release.check_version import check_version
from pipeline.release.version import Version
from pipeline.stages.build.workshop import Options, Workshop
from pipeline.stages.publish import elsewhere, elsewhere_check, elsewhere_send
from pipeline.toolchain.find import find_toolchain

pytestmark = [needs_extra, pytest.mark.e2e]

HERE = machine().name
OTHER = "amd-zen3" if HERE != "amd-zen3" else "intel-icelake"
GEOMETRY = "schema_version = 1\nconstants.small_depth = { value = 24, why = 'a test' }\n"
PASSES = """
from types import SimpleNamespace


def may_publish(result, allow_neutral, allow_regression=()):
    return True, 'a test'


def answer_to(result, allow_neutral, allow_regression=()):
    return SimpleNamespace(quotes=())
"""
NOBODY = "tcp://127.0.0.1:9"
"""Where no scheduler answers."""


def shop_of(sandbox: Sandbox, scheduler: str) -> Workshop:
    tree = Tree(sandbox.root)
    options = Options(quick=True, cpu="all", scheduler=scheduler)
    store, tools = Store(tree.artifacts("tiny")), find_toolchain()
    return Workshop(tree, load_profile(tree, "tiny"), tools, store, open_console(False), options)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A tree in which `tiny` was built for all: by us for any, by a worker for its kind."""
    sandbox = make_sandbox(tmp_path_factory.mktemp("elsewhere") / "tree")
    tree = Tree(sandbox.root)
    (tree.root / "pipeline/judge/publishing.py").write_text(PASSES)
    for kind in (HERE, "intel-nehalem"):  # nobody has the other one
        tree.geometry("tiny", kind).parent.mkdir(exist_ok=True)
        tree.geometry("tiny", kind).write_text(GEOMETRY)
    with pytest.MonkeyPatch.context() as patch, cluster_of(1) as cluster:
        patch.setattr(run, "machine", lambda: Processor(OTHER, "a test", frozenset()))
        patch.setattr("pipeline.judge.publishing.may_publish", lambda *_: (True, "a test"))
        run.build(shop_of(sandbox, cluster.scheduler_address))
        yield sandbox


def test_it_lies_beside_ours_with_what_tells_of_it(
    sandbox: Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    version = Version(sandbox.current.resolve())
    assert version.beside() == [version.folder / f"lib/{HERE}/libhakmem.so"]
    assert version.library.read_bytes() != version.beside()[0].read_bytes()
    records = version.folder / "kinds" / HERE
    assert {p.name for p in records.iterdir()} == {"manifest.json", "report.html", "verdict.json"}
    assert version.manifest["processor"]["cut_for"] == "any"
    beside = version.manifest["beside"][HERE]
    assert beside["made_on"] == platform.node()
    assert beside["processor"]["cut_for"] == beside["processor"]["judged_on"] == HERE
    assert beside["verdict"]["reason"] == "a test"
    checks = check_version(Tree(sandbox.root), version)
    assert [check.rule for check in checks if not check.holds] == []
    assert any(check.rule.startswith(f"{HERE}: ") for check in checks)
    # Once it is there nobody is asked any more.
    again = sandbox.current.resolve().name
    with elsewhere.ordered(shop_of(sandbox, NOBODY), [HERE]) as collect:
        (found,) = collect()
    assert found.library.digest == digest_bytes(version.beside()[0].read_bytes())
    assert f"for {HERE}: unchanged: made on {platform.node()}" in capsys.readouterr().out
    assert sandbox.current.resolve().name == again


Change = Callable[[dict[str, Any], dict[str, Any]], None]


def other_sources(manifest: dict[str, Any], _: dict[str, Any]) -> None:
    manifest["stages"]["static"]["inputs"]["sources"] = "0" * 64


def other_tools(manifest: dict[str, Any], _: dict[str, Any]) -> None:
    manifest["tools"]["clang"] = "clang version 1"


def other_profile(manifest: dict[str, Any], _: dict[str, Any]) -> None:
    manifest["profile"] = "mixed"


def other_geometry(manifest: dict[str, Any], _: dict[str, Any]) -> None:
    manifest["geometry"] = "0" * 64


def for_another_kind(manifest: dict[str, Any], _: dict[str, Any]) -> None:
    manifest["processor"]["cut_for"] = OTHER


def judged_elsewhere(_: dict[str, Any], verdict: dict[str, Any]) -> None:
    verdict["environment"]["processor"] = OTHER


def about_another_library(_: dict[str, Any], verdict: dict[str, Any]) -> None:
    verdict["tuned"]["sha256"] = "0" * 64


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (other_sources, "it was made from other sources: their digest was 0000000000000000"),
        (other_tools, "it was made by other tools: clang was 'clang version 1', here it is"),
        (other_profile, "it has another profile than was ordered: mixed"),
        (other_geometry, "it has another geometry than was ordered: 0000"),
        (for_another_kind, f"it was built for {OTHER}, not for {HERE}"),
        (judged_elsewhere, f"it was judged on {OTHER}, not on {HERE}"),
        (about_another_library, "the verdict that came with it is about another library"),
    ],
)
def test_what_was_not_ordered_is_refused(change: Change, said: str, sandbox: Sandbox) -> None:
    shop, made = sent_back(sandbox)
    manifest, verdict = (json.loads(made[name]) for name in ("manifest.json", "verdict.json"))
    change(manifest, verdict)
    made["verdict.json"] = json.dumps(verdict).encode()
    manifest["files"]["verdict.json"] = digest_bytes(made["verdict.json"])
    made["manifest.json"] = json.dumps(manifest).encode()
    with pytest.raises(PipelineError, match=said):
        take_in(shop, made)


@pytest.mark.parametrize("name", SENT_BACK)
def test_a_file_that_changed_on_its_way_is_refused(name: str, sandbox: Sandbox) -> None:
    shop, made = sent_back(sandbox)
    made[name] += b"more"
    with pytest.raises(PipelineError, match=r"is not the file that|cannot be read"):
        take_in(shop, made)


def test_the_gate_here_has_the_last_word(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    shop, made = sent_back(sandbox)
    take_in(shop, made)
    monkeypatch.setattr("pipeline.judge.publishing.may_publish", lambda *_: (False, "it is worse"))
    with pytest.raises(PipelineError, match="it is worse"):
        take_in(shop, made)


def test_ctrl_c_here_ends_the_build_there(fresh: Sandbox, tmp_path: Path) -> None:
    tree, code = Tree(fresh.root), fresh.root / "pipeline/run.py"
    tree.geometry("tiny", HERE).parent.mkdir()
    tree.geometry("tiny", HERE).write_text(GEOMETRY)
    text = code.read_text()
    assert "machine().name" in text
    code.write_text(text.replace("machine().name", repr(OTHER)))
    with cluster_of(1, tmp_path / "workers") as cluster:
        words = ("--profile", "tiny", "--quick", "--cpu", "all")
        child = fresh.start("build", *words, "--scheduler", cluster.scheduler_address)
        while not (holders := list((tmp_path / "workers").rglob("lock-holder"))):
            assert child.poll() is None
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate()
        assert child.returncode == ExitCode.INTERRUPTED, output
        assert "goes on from the last good stage" in output
        assert "Traceback" not in output
        there = Path("/proc", str(json.loads(holders[0].read_text())["process"]))
        while there.exists():
            time.sleep(0.1)


def sent_back(sandbox: Sandbox) -> tuple[Workshop, dict[str, bytes]]:
    """Return the surroundings, and what the worker has sent."""
    shop = shop_of(sandbox, NOBODY)
    (folder,) = shop.tree.artifacts("tiny").glob(f"elsewhere-{HERE}/*")
    files = zip(SENT_BACK, elsewhere_check.names(shop), strict=True)
    return shop, {name: (folder / file).read_bytes() for name, file in files}


def take_in(shop: Workshop, made: dict[str, bytes]) -> None:
    """Take it in elsewhere: what is there stays."""
    (order,) = elsewhere_send.orders(shop, [HERE])
    apart = replace(shop, store=Store(Path(f"{shop.store.folder}-apart")))
    elsewhere.take_in(apart, order, Made("a test", made))
