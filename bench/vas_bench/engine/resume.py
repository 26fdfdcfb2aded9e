"""Decides whether a session may go on from a file's runs, and what is left to do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from vas_bench.engine.rounds import Round, S, key_of, missing
from vas_bench.results.record import BenchRun
from vas_bench.results.store import Content
from vas_core.errors import BadInput

Environment = Mapping[str, JsonValue]


def left_to_do(
    rounds: Sequence[Round[S]], content: Content, here: Environment, *, file: Path, resume: bool
) -> list[Round[S]]:
    """Returns the rounds that are missing in a file's content.

    Raises BadInput where the file has runs and `resume` was not asked for, where it has damaged
    lines, and where its runs of these rounds were made in another environment.
    """
    check_content(content, file=file, resume=resume)
    keys = {each.key for each in rounds}
    check_environments((r for r in content.runs if key_of(r) in keys), here, file=file)
    return missing(rounds, content.runs)


def check_content(content: Content, *, file: Path, resume: bool) -> None:
    """Raises BadInput for damaged lines, and for runs without `resume`."""
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
            raise BadInput(f"{run.id}: {changed}", where=str(file), hint="give another file")


def changes(before: Environment, after: Environment) -> str:
    """Returns what differs between two looks at a machine, in words; empty if nothing does."""
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    found = (f"{name} was {before.get(name)} and is {after.get(name)}" for name in names)
    return f"the environment changed: {', '.join(found)}" if names else ""
