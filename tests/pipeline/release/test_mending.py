"""A damaged version that is written anew keeps its place among the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.release.contents import write_sums
from pipeline.release.version import Version
from pipeline.stages.publish.folder import clean_room, published_on

CREATED, JUDGED = "2026-01-02T10:00:09+00:00", "2026-01-02T10:00:01+00:00"


@pytest.fixture
def version(tmp_path: Path) -> Version:
    (tmp_path / "manifest.json").write_text(json.dumps({"created": CREATED}), encoding="utf-8")
    (tmp_path / "report.json").write_text("{}", encoding="utf-8")
    write_sums(tmp_path)
    return Version(tmp_path)


@pytest.mark.parametrize("name", ["report.json", "SHA256SUMS"])
def test_the_manifest_tells_the_date_where_another_file_is_damaged(
    version: Version, name: str
) -> None:
    (version.folder / name).unlink()
    assert published_on(version, JUDGED) == CREATED


@pytest.mark.parametrize("text", ["", "{", '{"created": "2026-09-09T00:00:00+00:00"}'])
def test_the_moment_of_the_verdict_is_the_date_where_the_manifest_is_damaged(
    version: Version, text: str
) -> None:
    (version.folder / "manifest.json").write_text(text, encoding="utf-8")
    assert published_on(version, JUDGED) == JUDGED


def test_a_new_version_has_the_date_of_today(tmp_path: Path) -> None:
    assert published_on(Version(tmp_path / "new"), JUDGED) > JUDGED


def test_what_killed_runs_have_left_of_any_version_goes(tmp_path: Path) -> None:
    (tmp_path / ".tmp-1.0-aa11" / "lib").mkdir(parents=True)
    (tmp_path / "1.0-bb22").mkdir()
    room = clean_room(tmp_path / "1.0-cc33")
    assert (room.parent, room.name) == (tmp_path, ".tmp-1.0-cc33")
    assert [one.name for one in tmp_path.iterdir()] == ["1.0-bb22"]
