"""The frame of the `vas` command: finds each room's commands, maps errors to exit statuses."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points
from math import isnan
from pathlib import Path
from typing import Any, NoReturn

import click

from vas_core.distribution import DISTRIBUTION, extras_with, own_version
from vas_core.durations import parse_duration
from vas_core.errors import ExitStatus, NotHere, VasError
from vas_core.lazy import LINE_CHARS, LazyGroup
from vas_core.process import echo_programs
from vas_core.program import as_called, help_as_called, program
from vas_core.repository import NEEDS_CLONE, REPOSITORY, is_clone
from vas_core.shown import shown
from vas_core.sizes import format_size, parse_size

ENTRY_POINT_GROUP = "vas.commands"
# How click writes a range: 1<=x<=64, 0<x<1, x>=1, x<=9.
_RANGE = re.compile(
    r"is not in the range (?:(?P<low>[^<>=\s]+)(?P<above><=?))?x"
    r"(?:(?P<sign>[<>]=?)(?P<high>[^<>=\s]+))?$"
)
_IN_WORDS = {"<=": "at most", "<": "less than", ">=": "at least", ">": "more than"}
# Room -> what a user of its commands does, in the order of `vas --help`.
_TITLES = {
    "lab": "Try it on one machine",
    "yarn": "Run jobs",
    "lustre-layout": "Lay out data",
    "bench": "Measure",
    "cluster": "Describe a site",
    "accept": "Check a site's Lustre",
    "ansible": "Set up a site",
    "vm-images": "Make guest images",
    "guests": "Define guests",
    "routing": "Switch routes",
    "affinity": "Place threads on cores",
    "alltoallv": "All-to-all for MPI programs",
    "release": "Make a release",
    "core": "This clone and this machine",
    "tests": "Test",
}


class _HelpFormatter(click.HelpFormatter):
    def getvalue(self) -> str:
        return help_as_called(super().getvalue())


# Rooms' commands are click's own classes: this is the one place that all their help comes by.
click.Context.formatter_class = _HelpFormatter


class RoomGroup(click.Group):
    """The top-level group. Entry points are named `room.command`; help has a section per room."""

    def _by_command(self) -> dict[str, EntryPoint]:
        return {e.name.split(".", 1)[1]: e for e in entry_points(group=ENTRY_POINT_GROUP)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._by_command())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Returns a room's command; None for an unknown name.

        Raises TypeError if the entry point is not a click command.
        """
        entry = self._by_command().get(name)
        if entry is None:
            return None
        command = entry.load()
        if not isinstance(command, click.Command):
            raise TypeError(f"entry point {entry.name} is not a click command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command of a command line. Raises NoSuchCommand, with the known names, if the
        first word is not a command."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as unknown:
            known = self.list_commands(ctx)
            raise click.NoSuchCommand(unknown.command_name, possibilities=known, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rooms: dict[str, list[tuple[str, str]]] = {}
        for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda e: e.name):
            room, name = entry.name.split(".", 1)
            command = self.get_command(ctx, name)
            assert command is not None
            rooms.setdefault(room, []).extend(_help_lines(name, command))
        order = [room for room in _TITLES if room in rooms]
        for room in [*order, *(rooms.keys() - _TITLES.keys())]:
            if rooms[room]:
                with formatter.section(_TITLES.get(room, room)):
                    formatter.write_dl(rooms[room])


def _help_lines(name: str, command: click.Command) -> Iterable[tuple[str, str]]:
    if isinstance(command, LazyGroup):
        yield from ((f"{name} {sub}", line) for sub, line in command.help_lines())
    elif isinstance(command, click.Group):
        for sub in sorted(command.commands):
            yield f"{name} {sub}", command.commands[sub].get_short_help_str(LINE_CHARS)
    else:
        yield name, command.get_short_help_str(LINE_CHARS)


@click.group(
    cls=RoomGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(own_version(), prog_name="vas")
@click.option(
    "--yes",
    is_flag=True,
    help="Install missing packages without asking (done by the script ./vas, before the command).",
)
@click.option(
    "-v", "--verbose", is_flag=True, help="Print each program that is started, on stderr."
)
@click.pass_context
def vas(context: click.Context, yes: bool, verbose: bool) -> None:
    """VAS ships analytics to the data: MapReduce on the storage servers of a Lustre file system.

    Exit status: 0 done, 1 failed, 2 bad usage or input, 3 verified and found different,
    77 skipped because this machine lacks what the command needs.
    """
    if verbose:
        echo_programs(lambda command: click.echo(f"+ {shown(command)}", err=True))
        context.call_on_close(lambda: echo_programs(None))


class RealRange(click.FloatRange):
    """A range of numbers that refuses `nan`, which click's own range lets through."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        return self.fail(f"{value} is not a number", param, ctx) if isnan(number) else number


class SizeType(click.ParamType[int]):
    """A click parameter that takes `64M` or `1GiB` and gives bytes; refuses less than `least`."""

    name = "size"

    def __init__(self, least: int = 0) -> None:
        self._least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            size = parse_size(value)
        except VasError as wrong:
            self.fail(str(wrong), param, ctx)
        if size < self._least:
            self.fail(f"{value!r} is less than {format_size(self._least)}", param, ctx)
        return size


class DurationType(click.ParamType[int]):
    """A click parameter that takes `90s`, `20m`, `2h`, with `days` also `30d`, and gives seconds.

    Less than `least_seconds` is refused.
    """

    name = "time"

    def __init__(self, *, least_seconds: int = 1, days: bool = False) -> None:
        self._least_seconds, self._days = least_seconds, days

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return parse_duration(value, least_seconds=self._least_seconds, days=self._days)
        except VasError as wrong:
            self.fail(str(wrong), param, ctx)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


def print_json(value: Any) -> None:
    r"""Prints one JSON document on stdout, keys in the order given.

    Characters that are not printable are written as `\uXXXX`, as a terminal may obey them.
    """
    lines = json.dumps(value, indent=2, ensure_ascii=False).split("\n")
    click.echo("\n".join(line if line.isprintable() else _printable(line) for line in lines))


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def note(text: str) -> None:
    """Prints a message to the user on stderr, so that stdout stays data.

    A command in backquotes, `vas COMMAND`, is shown with the program as the user called it. All
    control characters except line ends are escaped.
    """
    click.echo(as_called(shown(text, keep="\n")), err=True)


def note_error(error: VasError) -> None:
    """Prints an error on stderr; each of its lines begins with `vas: `."""
    note("\n".join(f"vas: {line}" for line in error.lines()))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command and exits with its status."""
    sys.exit(run_command(arguments))


def run_command(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status; every error is one message on stderr.

    Raises ModuleNotFoundError for a module that no extra of VAS brings.
    """
    try:
        result = vas.main(
            args=arguments,
            prog_name=program(),
            complete_var="_VAS_COMPLETE",
            standalone_mode=False,
        )
        return int(result) if isinstance(result, int) else ExitStatus.DONE
    except VasError as error:
        note_error(error)
        return error.exit_status
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return ExitStatus.BAD_INPUT
    except click.ClickException as error:
        note(f"vas: {_usage_line(error)}")
        return ExitStatus.BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        note("vas: interrupted")
        return 130
    except ModuleNotFoundError as missing:
        note_error(_without_extra(missing))
        return ExitStatus.SKIPPED
    except BrokenPipeError:
        # The reader of a pipe went away (`vas ... | head`): nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.DONE
    except OSError as error:
        what = error.strerror or str(error) or type(error).__name__
        note(f"vas: {VasError(what, where=_path_of(error), hint=_fix_of(error))}")
        return ExitStatus.FAILED


def _without_extra(missing: ModuleNotFoundError) -> VasError:
    """Returns the error for a library that an extra brings. Raises `missing` for any other."""
    module = missing.name or ""
    extras = extras_with(module)
    if not extras:
        raise missing
    one_of = " or ".join(f"'{DISTRIBUTION}[{extra}]'" for extra in extras)
    return NotHere(
        f"the library {module.partition('.')[0]} is not installed", hint=f"pip install {one_of}"
    )


def _in_words(range_: re.Match[str]) -> str:
    """Returns `is not between 1 and 64`, or a bound in words, for click's formula of a range."""
    low, above, sign, high = range_.group("low", "above", "sign", "high")
    if low is None:
        return f"is not {_IN_WORDS[sign]} {high}"
    if (above, sign) == ("<=", "<="):
        return f"is not between {low} and {high}"
    return f"is not {_IN_WORDS[above.replace('<', '>')]} {low} and {_IN_WORDS[sign]} {high}"


def _fix_of(error: OSError) -> str | None:
    if isinstance(error, PermissionError) and os.geteuid():
        return "run it as root"
    lost = (isinstance(error, FileNotFoundError) and _path_of(error)) or ""
    return NEEDS_CLONE if not is_clone() and Path(lost).is_relative_to(REPOSITORY) else None


def _path_of(error: OSError) -> str | None:
    return None if error.filename is None else os.fsdecode(error.filename)


def _usage_line(error: click.ClickException) -> str:
    """`COMMAND: WHAT; HINT`, where click prints the usage, a pointer to it and the error."""
    context = getattr(error, "ctx", None)
    path = context.command_path.removeprefix(program()).strip() if context else ""
    what, hint = error.format_message(), f"see `vas {path} --help`".replace("  ", " ")
    if isinstance(error, click.NoSuchCommand | click.NoSuchOption):
        what = error.message
        if error.possibilities:
            hint = f"did you mean {' or '.join(error.possibilities)}?"
    what = _RANGE.sub(_in_words, " ".join(what.split()).rstrip("."))
    what = what[:1].lower() + what[1:]
    return f"{path}: {what}; {hint}" if path else f"{what}; {hint}"
