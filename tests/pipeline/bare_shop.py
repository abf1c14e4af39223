"""A workshop without tools, for tests of what a build does first."""

from __future__ import annotations

import io
from pathlib import Path

from conftest import TINY
from rich.console import Console

from pipeline.core.console import BuildConsole
from pipeline.core.paths import Tree
from pipeline.core.store import Store
from pipeline.profile.load import parse_profile
from pipeline.profile.workload import Command
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Options, Workshop
from pipeline.toolchain.find import Toolchain
from pipeline.toolchain.symbols import SymbolLists


def bare_shop(folder: Path) -> Workshop:
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    profile = parse_profile(folder / "tiny.toml")
    console = BuildConsole(Console(file=io.StringIO(), width=500))
    store = Store(folder / "store")
    tools = Toolchain(())
    return Workshop(Tree(folder), profile, tools, store, console, Options())


def setup_of(checks: tuple[Command, ...], trains: tuple[Command, ...] = ()) -> Setup:
    return Setup("", "", SymbolLists((), ()), None, trains, checks, (), {})
