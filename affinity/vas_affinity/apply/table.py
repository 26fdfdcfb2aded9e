"""Prints the results of `vas affinity apply`, `verify` and `rollback`."""

from __future__ import annotations

from collections.abc import Sequence

from vas_affinity.apply.outcome import ApplyOutcome, SettingResult
from vas_core.cli import note, print_json
from vas_core.table import print_table


def print_results(host: str, results: Sequence[SettingResult], *, as_json: bool) -> None:
    """Prints one row for each setting and the count of each outcome, or all of it as JSON."""
    if as_json:
        print_json({"host": host, "outcomes": [result.as_json() for result in results]})
        return
    if not results:
        note("VAS has changed nothing on this host")
        return
    print_table(("WHAT", "BEFORE", "WANTED", "NOW", "RESULT", "WHY"), map(_row, results))
    counted = ((sum(r.verdict is outcome for r in results), outcome) for outcome in ApplyOutcome)
    note(", ".join(f"{count} {outcome}" for count, outcome in counted if count))


def _row(result: SettingResult) -> tuple[str, ...]:
    values = (result.before, result.wanted, result.now)
    shown = (value if value else "-" for value in values)
    return (result.what, *shown, result.verdict, result.why)
