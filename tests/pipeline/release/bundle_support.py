"""Bundles for tests: exported, read, and written with other contents."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest
from conftest import Sandbox

from pipeline.release.bundle import BUNDLE


def exported(built: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bundle of the version that is current in ``built``."""
    target = tmp_path_factory.mktemp("bundle") / "tiny.tar.gz"
    code, output = built.run("bundle", "export", "--profile", "tiny", "-o", str(target))
    assert code == 0, output
    assert "KiB, the bundle of " in output
    assert f"pipeline bundle import {target}` rebuilds that version" in output
    return target


def contents(file: Path) -> dict[str, bytes]:
    with tarfile.open(file) as tar:
        return {e.name: (tar.extractfile(e) or io.BytesIO()).read() for e in tar}


def write(target: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(target, "w:gz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return target


def edited(bundle: Path, target: Path, **changes: object) -> Path:
    """Write a bundle whose bundle.json says something else."""
    files = contents(bundle)
    described = json.loads(files[BUNDLE]) | changes
    return write(target, files | {BUNDLE: json.dumps(described).encode()})
