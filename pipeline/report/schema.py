"""The JSON schema of report.json, made from the model.

``python -m pipeline.report.schema > docs/report.schema.json``; a test keeps the two together.
"""

from __future__ import annotations

import json
from typing import Any

from pipeline.report.model import REPORT_VERSION, ReportModel


def report_schema() -> dict[str, Any]:
    """Return the schema (JSON Schema 2020-12) of what is written, not only of what is read."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **ReportModel.model_json_schema(mode="serialization"),
        "title": f"hakmem report, schema version {REPORT_VERSION}",
    }


def schema_page() -> str:
    """Return docs/report.schema.json."""
    return json.dumps(report_schema(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    print(schema_page(), end="")
