"""The command `vas affinity daemon`, which is the program `vas-affinityd`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from vas_affinity.apply.options import HostOptions, host_options, plan_argument
from vas_affinity.apply.plan_file import read_plan
from vas_affinity.daemon.inputs import DaemonInputs
from vas_affinity.daemon.loop import AffinityDaemon, DaemonConfig, log
from vas_affinity.daemon.metrics import AffinityMetrics
from vas_affinity.daemon.planner import Planner, Replan
from vas_affinity.daemon.replan import guest_replanner, replanner
from vas_affinity.daemon.settings import DEFAULT_PATH, AffinitySettings
from vas_affinity.machine.reading import SnapshotRequest
from vas_affinity.options import process_option, seconds_option
from vas_affinity.plan.options import ThreadOptions, thread_options
from vas_core.errors import BadInput
from vas_core.inforce import InForce
from vas_core.lastgood import LastGood
from vas_core.service import log_json, serve_metrics
from vas_core.settings import read_yaml

_KEPT = Path("/var/lib/vas/affinity")


@click.command()
@plan_argument
@host_options
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    default=DEFAULT_PATH,
    show_default=True,
    help="File of settings, with the valve's metric.",
)
@click.option(
    "--metrics",
    "metrics_at",
    default="127.0.0.1:9214",
    show_default=True,
    metavar="ADDRESS:PORT|off",
    help="Address for Prometheus.",
)
@click.option(
    "--kept",
    type=click.Path(path_type=Path),
    default=_KEPT,
    show_default=True,
    help="Directory that keeps the last good plan, also over reboots.",
)
@click.option("--replan", is_flag=True, help="Plan the threads repeatedly; move them if it pays.")
@click.option(
    "--replan-guests", is_flag=True, help="Plan the plan's guests repeatedly; move if it pays."
)
@process_option
@seconds_option
@thread_options
def daemon(
    given: HostOptions,
    plan_file: Path,
    config: Path,
    metrics_at: str,
    kept: Path,
    replan: bool,
    replan_guests: bool,
    processes: tuple[str, ...],
    seconds: float,
    threads: ThreadOptions,
) -> None:
    """Keep a plan applied, revert harmful moves: vas-affinityd.

    Repairs what others changed, and interrupts after a link came up. If the settings name a metric
    of the watched service, a move that makes it worse is reverted. Reads plan and settings again
    when they change, and at SIGHUP; if they cannot be used, it continues, or starts, with the last
    good ones. Ends at SIGTERM and leaves all where it is. The log has a line of JSON per event.
    --replan moves threads as `vas affinity plan` would place them, --replan-guests the guests.

    \b
    Examples: vas-affinityd /etc/vas/placement.json
              vas-affinityd /etc/vas/placement.json --replan --process ll_ost_io

    \f
    Raises BadInput for both kinds of planning.
    """
    make = _planner_of(threads=replan, guests=replan_guests)
    asked = SnapshotRequest(seconds, processes, given.connect)

    def load() -> DaemonInputs:
        settings = read_yaml(config, AffinitySettings, default=DEFAULT_PATH)
        return DaemonInputs(plan=read_plan(plan_file, given.name), settings=settings)

    def config_of(inputs: DaemonInputs) -> DaemonConfig:
        again = make(threads, asked, inputs.settings.move_cost) if make else None
        planner = Planner(inputs.plan, again, inputs.settings.replan_seconds)
        return DaemonConfig(given.host, planner, inputs.settings, processes if replan else ())

    log_json()
    metrics = AffinityMetrics(given.starts)
    serve_metrics(metrics.registry, metrics_at)
    last = LastGood(kept, DaemonInputs)
    files = InForce(load, (plan_file, config), last, metrics.plan, metrics.reloads, log)
    AffinityDaemon(files, config_of, metrics).run()


def _planner_of(
    *, threads: bool, guests: bool
) -> Callable[[ThreadOptions, SnapshotRequest, float], Replan] | None:
    """Returns what makes the planner; None for none. Raises BadInput for both kinds."""
    if threads and guests:
        raise BadInput("is given with --replan", where="--replan-guests", hint="give one of them")
    return replanner if threads else guest_replanner if guests else None
