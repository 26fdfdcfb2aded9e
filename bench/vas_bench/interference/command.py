"""The command `vas bench interference`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import click
from pydantic import JsonValue

from vas_bench.engine.observe import Observer
from vas_bench.engine.play import (
    Budget,
    Estimates,
    Expected,
    Played,
    Quiet,
    note_left,
    play_all,
    refuse_invalid,
)
from vas_bench.engine.rounds import Round, missing, runs_of
from vas_bench.interference.rounds import InterferenceSubject, Stages, identity
from vas_bench.interference.scope import ALONE, EMULATED, PATTERNS, ArmName
from vas_bench.interference.site_target import SiteTarget
from vas_bench.interference.target import InterferenceRequest, InterferenceTarget
from vas_bench.interference.verdict import COLUMNS, LOAD_COLUMNS, InterferenceVerdict, verdict
from vas_bench.options import RoundsRequest, dry_run_option, rounds_option, rounds_options
from vas_bench.results.measures import INTERFERENCE
from vas_bench.results.record import BenchRun
from vas_bench.results.store import RunStore
from vas_bench.results.systems import SYSTEM_OF
from vas_bench.run.estimate import run_seconds
from vas_bench.site.options import SiteOptions, site_options
from vas_core.cli import SizeType, json_option, note, print_json
from vas_core.durations import format_duration
from vas_core.errors import BadInput
from vas_core.root import Root
from vas_core.table import print_table
from vas_yarn.jobs.systems import System

Rounds = Sequence[Round[InterferenceSubject]]
_HOSTS = 2
# TeraSort in a guest without KVM; a guess, until a session has learned better.
_EMULATED_FACTOR = 10


@click.command()
@rounds_option("Runs of each arm.", default=6)
@click.option(
    "--warm-up",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Rounds that are not counted.",
)
@click.option(
    "--seconds",
    type=click.IntRange(1),
    default=15,
    show_default=True,
    help="Seconds that each pattern is measured.",
)
@click.option(
    "--size", type=SizeType(), default="1G", show_default=True, help="Size of the TeraSort's input."
)
@click.option(
    "--files",
    type=SizeType(),
    help="Size of the clients' files [default: what fits into a lab's page cache; on a site 1G].",
)
@click.option("--hosts", type=click.IntRange(1, 64), help="Hosts of the lab [default: 2].")
@click.option(
    "--system",
    type=click.Choice(list(SYSTEM_OF.values())),
    default="vas",
    show_default=True,
    help="System that the TeraSort runs on.",
)
@click.option(
    "--guest-image",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also next to a QEMU guest of this image: the directory that `vas image build` made.",
)
@click.option("--kvm", is_flag=True, help="Run that guest by KVM, not emulated (TCG).")
@site_options
@rounds_options
@dry_run_option
@json_option
def interference(
    seconds: int,
    size: int,
    files: int | None,
    hosts: int | None,
    system: System,
    guest_image: Path | None,
    kvm: bool,
    site: SiteOptions | None,
    session: RoundsRequest,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Measure what YARN costs the storage service next to it.

    fio reads and writes as the service's clients do: alone, with TeraSort in a loop on the same
    host, and with TeraSort in a cgroup as large as a guest, or in a guest. Every round has each
    arm once, in an order drawn by lot. In a lab it needs root, for cgroups and the page cache. On
    a site (--cluster) this machine is the client, and TeraSort is in the site's guests.

    \b
    Examples: vas bench interference --dry-run
              vas bench interference --resume runs.jsonl
              vas bench interference --rounds 1 --warm-up 0 --seconds 5 --size 64M --json
              vas bench interference --guest-image build/image/debian-12-quick
              vas bench interference --cluster /etc/vas/cluster.yaml --directory /user/ann

    \f
    Raises BadInput for options that do not go together.
    """
    request = InterferenceRequest(seconds=seconds, size=size, system=system, files=files)
    target = _target(request, site, hosts, guest_image, kvm)
    if dry_run:
        _say(target, _drawn(target, session, {}), request)
        return
    target.check()
    made = _measure(target, session)
    found = verdict(made)
    if ALONE in {run.system for run in found.runs}:
        _print(found, target, as_json)
    refuse_invalid(made)


def _drawn(
    target: InterferenceTarget, session: RoundsRequest, settings: Mapping[str, JsonValue]
) -> Rounds:
    """Returns the rounds of the target's arms, each arm once in a round, in a drawn order."""
    return session.draw([identity(arm, target.request, settings) for arm in target.scope.arms])


def _target(
    request: InterferenceRequest,
    site: SiteOptions | None,
    hosts: int | None,
    image: Path | None,
    kvm: bool,
) -> InterferenceTarget:
    of_lab = {"--hosts": hosts, "--guest-image": image}
    given = [name for name, value in of_lab.items() if value is not None]
    if site and given:
        raise BadInput("is for a lab", where=given[0], hint="leave it out, or --cluster")
    if kvm and image is None:
        raise BadInput("is how a guest is run", where="--kvm", hint="give --guest-image too")
    if site:
        return SiteTarget.of(request, site, Root())
    # A client of a real site need not load the lab.
    from vas_bench.interference.lab_target import LabTarget

    return LabTarget(request=request, root=Root(), hosts=hosts or _HOSTS, image=image, kvm=kvm)


def _expected(request: InterferenceRequest, arm: ArmName) -> Expected:
    """Seconds on two quiet cores. A job starts before, and half of the last one is left after."""
    measured = len(PATTERNS) * (request.seconds + 1) + 5
    whole = 10 + run_seconds(request.size / (1 << 30)) / 2
    beside = {ALONE: 0.0, EMULATED: _EMULATED_FACTOR * whole}.get(arm, whole)
    return Expected(0.0, measured + beside)


def _estimates(drawn: Rounds, request: InterferenceRequest) -> Estimates[InterferenceSubject]:
    return Estimates(drawn, [_expected(request, each.experiment.arm) for each in drawn])


def _say(target: InterferenceTarget, drawn: Rounds, request: InterferenceRequest) -> None:
    steps = [*target.steps(), *_estimates(drawn, request).steps(drawn)]
    print_table(("STEP", "SECONDS"), ((s.name, f"{s.expected_seconds:.0f}") for s in steps))
    total = format_duration(sum(step.expected_seconds for step in steps))
    note(f"about {total} on two quiet cores (estimated)")
    note(target.words())


def _measure(target: InterferenceTarget, session: RoundsRequest) -> Sequence[BenchRun]:
    """Makes the runs that the file of --resume lacks; returns all runs of the drawn rounds."""
    of, told, here = target.request, target.settings(), target.environment()
    drawn = _drawn(target, session, told)
    observer = Observer(INTERFERENCE, "vas bench interference", here, target.environment)
    asked = {"seconds": of.seconds, "size": of.size, "system": of.system}
    with session.store({**asked, **told, "environment": dict(here)}) as store:
        left = missing(drawn, store.content.runs)
        if left:
            note_left(_play(target, left, store, observer, session).left)
        return runs_of(drawn, store.runs)


def _play(
    target: InterferenceTarget,
    left: Rounds,
    store: RunStore,
    observer: Observer,
    session: RoundsRequest,
) -> Played[InterferenceSubject]:
    guessed, stages = _estimates(left, target.request), Stages(target)
    limit, seed = Budget(session.budget), session.seed
    steps = [*target.steps(), *guessed.steps(left)]
    with target.progress(steps) as progress, closing(stages):
        if not limit.allows(guessed.of(left[0])):
            return Played((), tuple(left))
        stages.open(progress)
        quiet = Quiet(progress.say)
        return play_all(
            lambda it: observer.observe(it, lambda: stages.play(it, seed, quiet)),
            left,
            store.append,
            progress=progress,
            estimates=guessed,
            budget=limit,
        )


def _print(found: InterferenceVerdict, target: InterferenceTarget, as_json: bool) -> None:
    scope = target.scope
    if as_json:
        told: Mapping[str, object] = {"arms": dict(scope.arms), "not_here": dict(scope.absent)}
        print_json({**told, **found.as_json(), **target.facts(), "shown": scope.shown})
        return
    print_table(COLUMNS, found.rows())
    click.echo()
    print_table(LOAD_COLUMNS, found.load_rows())
    note(target.words())
    for arm, meaning in scope.arms.items():
        note(f"{arm}: {meaning}")
    for arm, why in scope.absent.items():
        note(f"{arm}: not here: {why}")
    for line in scope.shown:
        note(line)
