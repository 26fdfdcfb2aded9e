"""Options that commands share."""

from __future__ import annotations

from dataclasses import dataclass

import click
from click.testing import CliRunner

from vas_core.errors import BadInput
from vas_core.options import dry_run, shared


@dataclass(frozen=True)
class Place:
    """Where something is."""

    host: str
    port: int = 7

    def __post_init__(self) -> None:
        if self.port < 1:
            raise BadInput("is not a port", where="--port")


with_place = shared("place", Place, click.option("--host", default="a"))


@click.command()
@with_place
@click.option("--port", type=int, default=9)
@dry_run()
def own_port(place: Place, dry_run: bool) -> None:
    """Has an option more that the shared value takes."""
    click.echo(f"{place} {dry_run}")


@click.command()
@with_place
@dry_run("Say it.")
def plain(place: Place, dry_run: bool) -> None:
    """Leaves the port out."""
    click.echo(f"{place} {dry_run}")


def test_a_command_gets_what_is_made_of_the_options() -> None:
    done = CliRunner().invoke(plain, ["--host", "b", "--dry-run"])
    assert done.output == "Place(host='b', port=7) True\n"


def test_a_command_s_own_option_is_given_to_it_too() -> None:
    assert CliRunner().invoke(own_port, []).output == "Place(host='a', port=9) False\n"
    assert isinstance(CliRunner().invoke(own_port, ["--port", "0"]).exception, BadInput)


def test_help_shows_the_options_in_their_order_and_what_a_dry_run_does() -> None:
    text = CliRunner().invoke(plain, ["--help"]).output
    assert text.index("--host") < text.index("--dry-run")
    assert "Say it." in text
