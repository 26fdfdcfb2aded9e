"""Whether a session may go on from the runs of a file, and what there is left to do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from vas_bench.results.record import BenchRun
from vas_bench.results.store import Content
from vas_bench.run.order import Turn, missing
from vas_bench.run.session import Environment, changes
from vas_core.errors import BadInput


def left_to_do(
    turns: Sequence[Turn], content: Content, here: Environment, *, file: Path, resume: bool
) -> list[Turn]:
    """The turns that are missing in a file's content.

    Raises BadInput where the file has runs and they are not to be gone on from, where it has
    damaged lines, and where its runs of these turns were made in another environment.
    """
    check_content(content, file=file, resume=resume)
    keys = {turn.key for turn in turns}
    ours = (r for r in content.runs if (r.configuration_hash, r.round, r.warm_up) in keys)
    check_environments(ours, here, file=file)
    return missing(turns, content.runs)


def check_content(content: Content, *, file: Path, resume: bool) -> None:
    """Raises BadInput for damaged lines, and for runs that are not to be gone on from."""
    if content.damaged:
        raise BadInput(str(content.damaged[0]), where=str(file), hint="mend it, or give another")
    if content.runs and not resume:
        hint = "give --resume to go on from them, or another --out"
        raise BadInput("there are runs in it", where=str(file), hint=hint)


def check_environments(runs: Iterable[BenchRun], here: Environment, *, file: Path) -> None:
    """Raises BadInput for a valid run that was made in another environment."""
    for run in runs:
        changed = changes(run.environment, here) if run.invalid is None else ""
        if changed:
            raise BadInput(f"{run.id}: {changed}", where=str(file), hint="give another --out")
