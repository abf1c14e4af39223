"""The second training pass, simpler flavours, and a build without BOLT made ready to publish."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import Sandbox
from elftools.elf.elffile import ELFFile

from pipeline.core.store import Store
from pipeline.stages.build.baseline import Baseline, baseline
from pipeline.stages.build.configure import Setup, configure
from pipeline.stages.build.finish import UNSTRIPPED, finish
from pipeline.stages.build.record import record
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.context import context
from pipeline.stages.pgo.instrument import instrument
from pipeline.stages.pgo.merge import function_counts, merge
from pipeline.stages.pgo.optimize import SECTIONS, pgo
from pipeline.stages.pgo.train import train
from pipeline.toolchain.elf import check_library
from pipeline.toolchain.text_map import read_text_map


@pytest.fixture(scope="module")
def shop(built: Sandbox) -> Workshop:
    """Work in the sandbox's own store: what it has built is not built again."""
    return built.workshop()


@pytest.fixture(scope="module")
def setup(shop: Workshop) -> tuple[Setup, Baseline]:
    setup = configure(shop)
    plain = baseline(shop, setup)
    return record(shop, setup), plain


def test_two_passes_make_one_profile_of_both_levels(
    shop: Workshop, setup: tuple[Setup, Baseline]
) -> None:
    checked, plain = setup
    training = train(shop, checked, plain, instrument(shop, checked))
    first = merge(shop, training)
    library, profile = context(shop, checked, plain, training, first)
    assert profile.digest != first.digest
    # The first level is untouched; the second has counts of its own, of fewer functions.
    both = profile.path
    assert function_counts(shop, both) == function_counts(shop, first.path)
    second = function_counts(shop, both, second=True)
    assert second["hak_malloc"] > 0
    assert len(second) < len(function_counts(shop, first.path))
    assert check_library(library.path, shop.log("test", "probe"))


def test_a_build_without_bolt_is_stripped_and_has_its_debug_file(
    shop: Workshop, setup: tuple[Setup, Baseline]
) -> None:
    linked = pgo(shop, *setup, None, SECTIONS)
    ready = finish(shop, linked)
    with ready.path.open("rb") as stream:
        names = [section.name for section in ELFFile(stream).iter_sections()]
    assert ".symtab" not in names
    assert ".rela.text" not in names
    assert ".gnu_debuglink" in names
    assert ready.path.stat().st_size < ready.artifact.path(UNSTRIPPED).stat().st_size / 2
    assert ready.artifact.path("libhakmem.so.debug").exists()
    assert read_text_map(ready.path).find("hak_malloc") is not None  # by way of the debug file
    found = finish(replace(shop, store=Store(shop.store.folder)), linked)
    assert not found.artifact.fresh
