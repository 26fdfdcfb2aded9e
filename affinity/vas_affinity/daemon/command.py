"""`vas affinity daemon`, which is `vas-affinityd`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vas_affinity.apply.options import Given as Options
from vas_affinity.apply.options import host_options, plan_argument
from vas_affinity.apply.plan_file import read_plan
from vas_affinity.daemon.loop import Daemon, Given, log
from vas_affinity.daemon.metrics import Metrics
from vas_affinity.daemon.planner import Planner
from vas_affinity.daemon.replan import replanner
from vas_affinity.daemon.settings import DEFAULT_PATH, Settings
from vas_affinity.daemon.told import Told
from vas_affinity.options import process_option, seconds_option
from vas_affinity.plan.options import ThreadOptions, thread_options
from vas_affinity.reading import Asked
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
    help="Its settings, the valve's metric among them.",
)
@click.option(
    "--metrics",
    "metrics_at",
    default="127.0.0.1:9214",
    show_default=True,
    metavar="ADDRESS:PORT|off",
    help="Where Prometheus asks.",
)
@click.option(
    "--kept",
    type=click.Path(path_type=Path),
    default=_KEPT,
    show_default=True,
    help="Where the last good plan is kept, over reboots too.",
)
@click.option("--replan", is_flag=True, help="Plan the threads anew, and move when it pays.")
@process_option
@seconds_option
@thread_options
def daemon(
    given: Options,
    plan_file: Path,
    config: Path,
    metrics_at: str,
    kept: Path,
    replan: bool,
    processes: tuple[str, ...],
    seconds: float,
    **options: Any,
) -> None:
    """Keep a plan true, take back what hurt: `vas-affinityd`.

    Puts right what others changed, and interrupts after a link came up. Where the settings name a
    metric of the watched service, a change that makes it worse is taken back. Reads plan and
    settings again when they changed, or at SIGHUP; with files that cannot be used it goes on, or
    starts, with the last good ones. Ends at SIGTERM and leaves everything where it is. The log is
    JSON, a line an event. With --replan threads move on, as `vas affinity plan` places them;
    guests, interrupts and cgroups stay with PLAN.json.

    \b
    Examples: vas-affinityd /etc/vas/placement.json
              vas-affinityd /etc/vas/placement.json --replan --process ll_ost_io
    """
    chosen, asked = ThreadOptions(**options), Asked(seconds, processes, given.connect)

    def load() -> Told:
        settings = read_yaml(config, Settings, default=DEFAULT_PATH)
        return Told(plan=read_plan(plan_file, given.name), settings=settings)

    def given_of(told: Told) -> Given:
        settings = told.settings
        again = replanner(chosen, asked, settings.move_cost) if replan else None
        return Given(given.host, Planner(told.plan, again, settings.replan_seconds), settings)

    log_json()
    metrics = Metrics()
    serve_metrics(metrics.registry, metrics_at)
    last = LastGood(kept, Told)
    told = InForce(load, (plan_file, config), last, metrics.plan, metrics.reloads, log)
    Daemon(told, given_of, metrics).run()
