"""Makes options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def shared(name: str, make: Callable[..., Any], *options: Decorator) -> Decorator:
    """Returns a decorator that adds `options` to a command and passes it one argument for all.

    The argument is called `name`. Its value is what `make` returns; `make` takes the options'
    values, and those of the command's own options that it has a parameter for. An error that
    `make` raises is the command's error.
    """
    taken = list(signature(make).parameters)

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def call(**values: Any) -> Any:
            own = {each: values.pop(each) for each in taken if each in values}
            return command(**{name: make(**own)}, **values)

        added: Callable[..., Any] = call
        for option in reversed(options):
            added = option(added)
        return added

    return add


def dry_run(does: str = "Print the steps; change nothing.") -> Decorator:
    """Returns the option --dry-run; `does` is what the command does then."""
    return click.option("--dry-run", is_flag=True, help=does)
