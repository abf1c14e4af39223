"""The report as files: written in three forms, read back from the one that is for programs."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from pipeline.core.errors import ArtifactError
from pipeline.release.mending import require_undamaged
from pipeline.release.version import Version
from pipeline.report.html import render_html
from pipeline.report.markdown import render_markdown
from pipeline.report.model import REPORT_VERSION, ReportModel
from pipeline.report.summary import summary_rows

HTML, MARKDOWN, JSON = "report.html", "report.md", "report.json"
FILES = (HTML, MARKDOWN, JSON)


def render_json(model: ReportModel) -> str:
    """Return the report as JSON; docs/report.schema.json is its schema."""
    return model.model_dump_json(indent=1) + "\n"


def write_reports(folder: Path, model: ReportModel) -> None:
    """Write all forms into ``folder``, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, render in ((HTML, render_html), (MARKDOWN, render_markdown), (JSON, render_json)):
        (folder / name).write_text(render(model), encoding="utf-8")


def read_report(folder: Path) -> ReportModel:
    """Return the report that lies in ``folder``, checked against the model.

    The short table is made anew from the judgement: an older one tells speed in other units.
    ArtifactError if there is none, or if it is damaged or of another schema.
    """
    path = folder / JSON
    try:
        model = ReportModel.model_validate_json(path.read_text(encoding="utf-8"))
        return model.model_copy(update={"summary": summary_rows(model.verify)})
    except OSError as error:
        raise ArtifactError(
            f"{folder.name} has no {JSON}",
            hint="versions that an older pipeline has published have none; build again",
        ) from error
    except (ValidationError, UnicodeDecodeError) as error:
        require_undamaged(Version(folder))
        if isinstance(error, UnicodeDecodeError):
            raise ArtifactError(
                f"{path} is not text: {error.reason}", hint="build the version again"
            ) from error
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ArtifactError(
            f"{JSON} of {folder.name} is no report of schema {REPORT_VERSION}: "
            f"{place}: {first['msg']}",
            hint="read its report.html; another version of the pipeline has written it",
        ) from error
