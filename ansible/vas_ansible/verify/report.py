"""The report of verify.yml: JSON, one HTML page, and lines for the terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from jinja2 import Environment, PackageLoader, StrictUndefined

from vas_ansible.verify.check import Check, Verdict


def lines(checks: Sequence[Check], verdict: Verdict) -> list[str]:
    """A line for each check that ended so."""
    return [check.line() for check in checks if check.verdict is verdict]


def as_json(site: str, time: str, checks: Sequence[Check]) -> str:
    """`{"site", "time", "ok", "counts", "checks"}`; `time` is ISO 8601."""
    shown = {
        "site": site,
        "time": time,
        "ok": not lines(checks, Verdict.FAILED),
        "counts": _counts(checks),
        "checks": [asdict(check) for check in checks],
    }
    return json.dumps(shown, indent=2) + "\n"


def as_html(site: str, time: str, checks: Sequence[Check]) -> str:
    """One page that needs no other file: what failed first, then node by node."""
    environment = Environment(
        loader=PackageLoader("vas_ansible.verify"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    order = list(Verdict)
    ordered = sorted(checks, key=lambda check: (check.verdict is not Verdict.FAILED, check.node))
    page = environment.get_template("verify.html.j2")
    return page.render(site=site, time=time, checks=ordered, counts=_counts(checks), order=order)


def _counts(checks: Sequence[Check]) -> dict[str, int]:
    found = Counter(check.verdict.value for check in checks)
    return {verdict.value: found[verdict.value] for verdict in Verdict}
