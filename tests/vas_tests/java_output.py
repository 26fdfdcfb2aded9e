"""Finds what the failed Java tests have logged; Maven keeps it in files."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

_REPORTS = "*/target/surefire-reports/TEST-*.xml"
_LAST_LINES = 200


def failed_output(plugins: Path, since: float) -> Iterator[str]:
    """Yields a heading and the last log lines, for each test class that failed after `since`.

    `since` is a time as `time.time()` gives it; older reports are of other runs.
    """
    for report in sorted(plugins.glob(_REPORTS)):
        if report.stat().st_mtime < since:
            continue
        suite = ElementTree.parse(report).getroot()
        output = report.with_name(f"{suite.get('name')}-output.txt")
        if {suite.get("failures"), suite.get("errors")} != {"0"} and output.exists():
            yield f"-- {output}, its last lines:"
            with output.open(errors="replace") as lines:
                yield from (line.rstrip("\n") for line in deque(lines, _LAST_LINES))
