"""A plugin of pytest for `pipeline test`: it names each failed test as it fails.

Else only a letter shows, and a run that is ended early by force has named none.
"""

from __future__ import annotations

import pytest


class Teller:
    """Writes a line for each part of a test that failed."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Name what failed, in a line of its own."""
        if report.failed:
            self._reporter.ensure_newline()
            self._reporter.write_line(f"FAILED {report.nodeid}")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Join pytest's own reporter, which exists by now."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(reporter, pytest.TerminalReporter):
        config.pluginmanager.register(Teller(reporter), "hakmem-tell-failures")
