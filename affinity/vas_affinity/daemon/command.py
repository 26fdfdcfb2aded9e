"""`vas affinity daemon`, which is `vas-affinityd`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_affinity.apply.options import Given as Options
from vas_affinity.apply.options import host_options, plan_argument
from vas_affinity.apply.plan_file import read_plan
from vas_affinity.daemon.loop import Daemon, Given
from vas_affinity.daemon.metrics import Metrics
from vas_affinity.daemon.planner import Planner
from vas_affinity.daemon.settings import DEFAULT_PATH, Settings
from vas_core.service import log_json, serve_metrics
from vas_core.settings import read_yaml


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
def daemon(given: Options, plan_file: Path, config: Path, metrics_at: str) -> None:
    """Keep a plan true, take back what hurt: `vas-affinityd`.

    Puts right what others changed, and interrupts after a link came up. Where the settings name a
    metric of the watched service, a change that makes it worse is taken back. Reads plan and
    settings again when they changed, or at SIGHUP; ends at SIGTERM and leaves everything where it
    is. The log is JSON, a line an event.

    \b
    Example: vas-affinityd /etc/vas/placement.json
    """

    def load() -> Given:
        settings = read_yaml(config, Settings, default=DEFAULT_PATH)
        plan = read_plan(plan_file, given.name)
        planner = Planner(plan, every_seconds=settings.replan_seconds)
        return Given(given.host, planner, settings, (plan_file, config))

    log_json()
    metrics = Metrics()
    serve_metrics(metrics.registry, metrics_at)
    Daemon(load, metrics).run()
