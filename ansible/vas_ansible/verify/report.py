"""Renders the report of verify.yml as JSON, as one HTML page and as lines for the terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from jinja2 import Environment, PackageLoader, StrictUndefined

from vas_ansible.verify.check import Check, CheckStatus


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
    environment = Environment(
        loader=PackageLoader("vas_ansible.verify"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    order = list(CheckStatus)
    ordered = sorted(
        checks, key=lambda check: (check.verdict is not CheckStatus.FAILED, check.node)
    )
    page = environment.get_template("verify.html.j2")
    return page.render(site=site, time=time, checks=ordered, counts=_counts(checks), order=order)


def _counts(checks: Sequence[Check]) -> dict[str, int]:
    found = Counter(check.verdict.value for check in checks)
    return {verdict.value: found[verdict.value] for verdict in CheckStatus}
