"""Completes, in a shell, the words of `vas lab`: labs, programs, nodes, logs."""

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
    """Completes names of labs, whether they are up or not."""
    return _starting(labs(), incomplete)


def programs(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[str] | list[CompletionItem]:
    """Completes names of Hadoop's programs, or the path of a jar."""
    found = _starting(PROGRAMS, incomplete)
    return found or [CompletionItem(incomplete, type="file")]


def nodes(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Completes names of the nodes of the lab of --name, if it is up; the first word only."""
    if ctx.params.get("words"):
        return []
    try:
        return _starting(Lab.attach(default_directory(_name(ctx))).nodes(), incomplete)
    except VasError:
        return []


def logs(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Completes names of the logs of the lab of --name."""
    try:
        return _starting(known_logs(default_directory(_name(ctx))), incomplete)
    except VasError:
        return []


def _name(ctx: click.Context) -> str:
    return str(ctx.params.get("name") or "lab")


def _starting(words: Iterable[str], start: str) -> list[str]:
    return [word for word in words if word.startswith(start)]
