"""Shell completion of the words of `vas lab`: labs, programs, nodes, logs."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from vas_core.errors import VasError
from vas_lab.hadoop.logs import known_logs
from vas_lab.lab import Lab
from vas_lab.state import default_directory, labs
from vas_yarn.jobs.job import PROGRAMS


def lab_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Labs, whether they are up or not."""
    return _starting(labs(), incomplete)


def programs(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[str] | list[CompletionItem]:
    """Hadoop's programs; a jar's path otherwise."""
    found = _starting(PROGRAMS, incomplete)
    return found or [CompletionItem(incomplete, type="file")]


def nodes(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The nodes of the lab that --name says, if it is up; only the first word is one."""
    if ctx.params.get("words"):
        return []
    try:
        return _starting(Lab.attach(default_directory(_name(ctx))).nodes(), incomplete)
    except VasError:
        return []


def logs(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The logs of the lab that --name says."""
    try:
        return _starting(known_logs(default_directory(_name(ctx))), incomplete)
    except VasError:
        return []


def _name(ctx: click.Context) -> str:
    return str(ctx.params.get("name") or "lab")


def _starting(words: Iterable[str], start: str) -> list[str]:
    return [word for word in words if word.startswith(start)]
