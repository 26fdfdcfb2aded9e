"""`vas bench interference`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from vas_bench.arms.rounds import run_seconds
from vas_bench.arms.systems import ARM_OF
from vas_bench.interference.kept import Kept
from vas_bench.interference.lab_venue import LabVenue
from vas_bench.interference.patterns import ALONE, EMULATED, PATTERNS, ArmName
from vas_bench.interference.play import play
from vas_bench.interference.site_venue import SiteVenue
from vas_bench.interference.turns import Turn, draw_turns, missing
from vas_bench.interference.venue import Asked, Venue
from vas_bench.interference.verdict import COLUMNS, LOAD_COLUMNS, InterferenceVerdict, verdict
from vas_bench.results.systems import System
from vas_bench.site.checks import SiteOptions
from vas_bench.site.options import site_options
from vas_core.cli import SizeType, json_option, note, print_json, print_table
from vas_core.durations import format_duration
from vas_core.errors import BadInput
from vas_core.progress import Step
from vas_core.root import Root

_HOSTS = 2
# TeraSort in a guest without KVM; a guess, until a session has learned better.
_EMULATED_FACTOR = 10


@click.command()
@click.option("--rounds", type=click.IntRange(1), default=6, show_default=True)
@click.option("--warm-up", type=click.IntRange(0), default=1, show_default=True, help="Rounds.")
@click.option(
    "--seconds",
    type=click.IntRange(1),
    default=15,
    show_default=True,
    help="How long each pattern is measured.",
)
@click.option(
    "--size", type=SizeType(), default="1G", show_default=True, help="Of the TeraSort's input."
)
@click.option(
    "--files",
    type=SizeType(),
    help="Of the clients' files [default: what fits into a lab's page cache; on a site 1G].",
)
@click.option("--hosts", type=click.IntRange(1, 64), help="Of the lab [default: 2].")
@click.option(
    "--system",
    type=click.Choice(list(ARM_OF)),
    default="vas",
    show_default=True,
    help="How the TeraSort is run.",
)
@click.option(
    "--guest-image",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also beside a QEMU guest of this image: the directory that `vas image build` made.",
)
@click.option("--kvm", is_flag=True, help="That guest by KVM; without, it is emulated (TCG).")
@site_options
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the order.")
@click.option(
    "--resume",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the turns in this file; go on from those that are in it.",
)
@click.option("--dry-run", is_flag=True, help="Say what would run and how long it takes.")
@json_option
def interference(
    rounds: int,
    warm_up: int,
    seconds: int,
    size: int,
    files: int | None,
    hosts: int | None,
    system: System,
    guest_image: Path | None,
    kvm: bool,
    site: SiteOptions | None,
    seed: int,
    resume: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Measure what YARN costs the storage service beside it.

    fio reads and writes as the service's clients do: alone, with TeraSort in a loop on the same
    host, and with TeraSort in a cgroup as large as a guest, or in a guest. Every round has each
    arm once, in an order drawn by lot. In a lab it needs root, for cgroups and the page cache. On
    a site (--cluster) this machine is the client, and TeraSort is in the site's guests.

    \b
    Examples: vas bench interference --dry-run
              vas bench interference --resume turns.json
              vas bench interference --rounds 1 --warm-up 0 --seconds 5 --size 64M --json
              vas bench interference --guest-image build/image/debian-12-quick
              vas bench interference --cluster /etc/vas/cluster.yaml --directory /user/ann
    """
    asked = Asked(seconds=seconds, size=size, system=system, files=files)
    venue = _venue(asked, site, hosts, guest_image, kvm)
    turns = draw_turns(venue.scope.arms, rounds=rounds, warm_up=warm_up, seed=seed)
    if dry_run:
        _say(venue, turns, asked)
        return
    venue.check()
    settings = {"seconds": seconds, "size": size, "system": system, "seed": seed}
    kept = Kept({**settings, **venue.settings()}, resume)
    if missing(turns, kept.turns):
        _play(venue, turns, kept, asked)
    wanted = {turn.key for turn in turns}
    _print(verdict([turn for turn in kept.turns if turn.key in wanted]), venue, as_json)


def _venue(
    asked: Asked, site: SiteOptions | None, hosts: int | None, image: Path | None, kvm: bool
) -> Venue:
    of_lab = {"--hosts": hosts, "--guest-image": image}
    given = [name for name, value in of_lab.items() if value is not None]
    if site and given:
        raise BadInput("is for a lab", where=given[0], hint="leave it out, or --cluster")
    if kvm and image is None:
        raise BadInput("is how a guest is run", where="--kvm", hint="give --guest-image too")
    if site:
        return SiteVenue.of(asked, site, Root())
    return LabVenue(asked, hosts or _HOSTS, image, kvm, Root())


def _steps(venue: Venue, turns: Sequence[Turn], asked: Asked) -> list[Step]:
    """What is to be done, with the seconds it takes on two quiet cores."""
    measured = len(PATTERNS) * (asked.seconds + 1) + 5
    found = [*venue.steps()]
    found += [Step(turn.title, measured + _beside(turn.arm, asked.size)) for turn in turns]
    return found


def _beside(arm: ArmName, size: int) -> float:
    """A job starts before, and the last one ends after: half of one is left on the average."""
    whole = 10 + run_seconds(size / (1 << 30)) / 2
    return {ALONE: 0.0, EMULATED: _EMULATED_FACTOR * whole}.get(arm, whole)


def _say(venue: Venue, turns: Sequence[Turn], asked: Asked) -> None:
    steps = _steps(venue, turns, asked)
    print_table(("STEP", "SECONDS"), ((s.name, f"{s.expected_seconds:.0f}") for s in steps))
    total = format_duration(sum(step.expected_seconds for step in steps))
    note(f"about {total} on two quiet cores (estimated)")
    note(venue.words())


def _play(venue: Venue, turns: Sequence[Turn], kept: Kept, asked: Asked) -> None:
    left = missing(turns, kept.turns)
    with venue.progress(_steps(venue, left, asked)) as progress, venue.opened(progress) as stage:
        for turn in left:
            with progress.step(turn.title):
                kept.add(play(stage, turn, asked.seconds))


def _print(found: InterferenceVerdict, venue: Venue, as_json: bool) -> None:
    scope = venue.scope
    if as_json:
        told: Mapping[str, object] = {"arms": dict(scope.arms), "not_here": dict(scope.absent)}
        print_json({**told, **found.as_json(), **venue.facts(), "shown": scope.shown})
        return
    print_table(COLUMNS, found.rows())
    click.echo()
    print_table(LOAD_COLUMNS, found.load_rows())
    note(venue.words())
    for arm, meaning in scope.arms.items():
        note(f"{arm}: {meaning}")
    for arm, why in scope.absent.items():
        note(f"{arm}: not here: {why}")
    for line in scope.shown:
        note(line)
