"""The command `vas bench arrivals`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import click

from vas_affinity.arrivals.way import NoticeWay
from vas_bench.arrivals.measure import ArrivalFigures, ArrivalLoad, ArrivalsMeasured, measure
from vas_core.cli import DurationType, RealRange, json_option, note, print_json
from vas_core.table import print_table

_MEMORY = Path("/dev", "shm")
_SHARES = {"median": 0.5, "p95": 0.95, "p99": 0.99, "longest": 1.0}


@click.command()
@click.option("--time", "seconds", type=DurationType(), default="60s", show_default=True)
@click.option(
    "--way",
    "ways",
    type=click.Choice([way.value for way in NoticeWay]),
    multiple=True,
    default=(NoticeWay.CONNECTOR.value, NoticeWay.SCAN.value),
    help="Way of noticing threads; several are measured at once [default: connector, scan].",
)
@click.option(
    "--forks",
    type=RealRange(0, min_open=True),
    default=100.0,
    show_default=True,
    help="Processes that other work starts per second.",
)
@click.option(
    "--execs",
    type=RealRange(0),
    default=5.0,
    show_default=True,
    help="Programs that other work starts per second, in addition.",
)
@json_option
def arrivals(
    seconds: int, ways: tuple[str, ...], forks: float, execs: float, as_json: bool
) -> None:
    """Measure how late new threads are placed, and the CPU time.

    A vas-affinityd for each way places the threads of a service of its own, which starts one every
    1.05 s. CPU is the whole daemon's. The delay is from the moment at which a thread has its name
    to that at which it finds itself on its CPU; it looks every 2 ms.

    \b
    Example: vas bench arrivals --time 1h
    """
    load = ArrivalLoad(seconds, forks=forks, execs=execs)
    # In memory where that can be: on a site a daemon has its state in /run, and waits for no disk.
    memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="vas-arrivals-", dir=memory) as work:
        found = measure(load, [NoticeWay(way) for way in ways], Path(work))
    if as_json:
        print_json(_as_json(found))
        return
    rows = [
        (it.way, f"{it.cpu_share:.2%}", f"{len(it.delays_ms)} of {it.threads}", *_delays(it))
        for it in found.ways
    ]
    print_table(("WAY", "CPU", "PLACED", *(f"{name} MS".upper() for name in _SHARES)), rows)
    low, high = found.load
    note(
        f"in {found.seconds:.0f} s this machine started {found.processes_per_second:.0f} processes "
        f"a second, at a load of {low:g} to {high:g}"
    )


def _delays(figures: ArrivalFigures) -> list[str]:
    delays = [figures.delay_ms(share) for share in _SHARES.values()]
    return ["-" if delay is None else f"{delay:.0f}" for delay in delays]


def _as_json(found: ArrivalsMeasured) -> dict[str, Any]:
    ways = [
        {
            "way": it.way.value,
            "cpu_share": round(it.cpu_share, 5),
            "threads": it.threads,
            "placed": len(it.delays_ms),
            "delay_ms": {name: it.delay_ms(share) for name, share in _SHARES.items()},
        }
        for it in found.ways
    ]
    return {
        "seconds": round(found.seconds, 1),
        "processes_per_second": round(found.processes_per_second, 1),
        "load": {"lowest": found.load[0], "highest": found.load[1]},
        "ways": ways,
    }
