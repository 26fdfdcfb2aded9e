"""Renders the report of verify.yml as JSON, as one HTML page and as lines for the terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from vas_ansible.verify.check import Check, CheckStatus
from vas_core.checklist import ChecklistPage, ChecklistRow, Tone

_TONES: dict[CheckStatus, Tone] = {
    CheckStatus.OK: "good",
    CheckStatus.FAILED: "bad",
    CheckStatus.NOT_RUN: "open",
}


def lines(checks: Sequence[Check], verdict: CheckStatus) -> list[str]:
    """Returns one line for each check with this status."""
    return [check.line() for check in checks if check.verdict is verdict]


def as_json(site: str, time: str, checks: Sequence[Check]) -> str:
    """Returns the report as JSON, `{"site", "time", "ok", "counts", "checks"}`.

    `time` is in ISO 8601.
    """
    shown = {
        "site": site,
        "time": time,
        "ok": not lines(checks, CheckStatus.FAILED),
        "counts": _counts(checks),
        "checks": [asdict(check) for check in checks],
    }
    return json.dumps(shown, indent=2) + "\n"


def as_html(site: str, time: str, checks: Sequence[Check]) -> str:
    """Returns the report as one self-contained page: failed checks first, then node by node."""
    counts = _counts(checks)
    page = ChecklistPage(
        title=f"VAS: verification of {site}",
        heading=f"{site}: {'checks failed' if counts[CheckStatus.FAILED] else 'verified'}",
        about=time,
        counts=tuple(counts.items()),
        columns=("node", "check"),
        rows=tuple(_row(check) for check in sorted(checks, key=lambda check: check.node)),
    )
    return page.html()


def _row(check: Check) -> ChecklistRow:
    tone: Tone = _TONES[check.verdict]
    lines = (check.what, f"Fix: {check.fix}") if check.fix else (check.what,)
    return ChecklistRow((check.node, check.name), check.verdict.value, tone, lines)


def _counts(checks: Sequence[Check]) -> dict[str, int]:
    found = Counter(check.verdict.value for check in checks)
    return {verdict.value: found[verdict.value] for verdict in CheckStatus}
