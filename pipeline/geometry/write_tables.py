"""Writes a profile's tables for CMake: python -m pipeline.geometry.write_tables PROFILE FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

from pipeline.core.paths import Tree
from pipeline.geometry.load import common_geometry
from pipeline.geometry.tables import generate

if __name__ == "__main__":
    generate(common_geometry(Tree.here(), sys.argv[1]), Path(sys.argv[2]))
