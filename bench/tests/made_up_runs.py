"""Runs for tests. Their numbers are made up: nobody measured them."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from vas_bench.results.record import BenchRun, make_run
from vas_yarn.jobs.systems import System

_START = datetime(2026, 1, 1, tzinfo=UTC)
_ENVIRONMENT: dict[str, Any] = {"cpus": 2, "memory_bytes": 1 << 34, "kernel": "made up"}
_VERSIONS = {"hadoop": "0.0-made-up", "java": "0-made-up"}


def made_up_run(number: int = 0, **fields: Any) -> BenchRun:
    """A valid run whose fields can be replaced."""
    usual: dict[str, Any] = {
        "id": f"made-up-{number}",
        "time": _START + timedelta(minutes=number),
        "workload": "terasort",
        "system": "vas",
        "parameters": {"size_bytes": 1 << 30, "hosts": 4},
        "versions": _VERSIONS,
        "environment": _ENVIRONMENT,
        "command": "vas bench run made-up.yaml",
        "measures": {"job_seconds": 20.0, "cpu_seconds": 40.0},
        "phases": {"start": 3.0, "map": 10.0, "reduce": 6.0},
        "validation": {"ok": True, "check": "TeraValidate", "checksum": "abc"},
    }
    return make_run(**(usual | fields))


_MADE_UP_SECONDS: dict[System, float] = {
    "yarn-lustre": 60,
    "yarn-lustre-hosts": 52,
    "tez": 45,
    "vas-locality": 51,
    "vas": 25,
}


def made_up_results(rounds: int = 5, *, slower: float = 1.0, seed: int = 1) -> list[BenchRun]:
    """Rounds of two workloads on five systems, and what else a report has to show."""
    lots = random.Random(seed)
    runs: list[BenchRun] = []
    for workload, size in (("terasort", 1.0), ("wordcount", 1.6)):
        for round_ in range(-1, rounds):
            for system, seconds in _MADE_UP_SECONDS.items():
                job = seconds * size * lots.gauss(1, 0.03)
                job *= slower if system == "vas" else 1
                runs.append(_one(len(runs), workload, system, job, warm_up=round_ < 0))
    wrong = {"ok": False, "check": "TeraValidate", "checksum": "bad"}
    why = 'TeraValidate: <script>alert("misorder")</script> & more'
    runs.append(made_up_run(len(runs), id="made-up-bad", validation=wrong, invalid=why))
    return runs


def made_up_scaling() -> list[BenchRun]:
    """One workload on more and more hosts."""
    lots, runs = random.Random(2), []
    for hosts in (1, 2, 4, 8, 12, 16):
        speed_up = hosts / (1 + 0.05 * (hosts - 1) + 0.004 * hosts * (hosts - 1))
        for _ in range(4):
            seconds = 400 / speed_up * lots.gauss(1, 0.02)
            runs.append(_one(1000 + len(runs), "sort", "vas", seconds, hosts=hosts))
    return runs


def _one(
    number: int, workload: str, system: System, job: float, *, warm_up: bool = False, hosts: int = 4
) -> BenchRun:
    is_local = {"yarn-lustre": 3, "yarn-lustre-hosts": 10, "tez": 9}.get(system, 12)
    shares = {"start": 0.12, "map": 0.5, "shuffle": 0.1, "reduce": 0.2}
    split = 64 << 20
    maps = 12 * 4 // hosts
    localities = {
        f"vm{host}": {
            "data_local_maps": is_local * 4 // hosts,
            "rack_local_maps": maps - is_local * 4 // hosts,
            "other_maps": 0,
            "local_input_bytes": is_local * 4 // hosts * split,
            "input_bytes": maps * split,
        }
        for host in range(1, hosts + 1)
    }
    return made_up_run(
        number,
        workload=workload,
        system=system,
        parameters={"size_bytes": 48 * split, "hosts": hosts},
        configuration={"mapreduce.task.io.sort.mb": "200", "system": system},
        warm_up=warm_up,
        measures={
            "job_seconds": round(job, 3),
            "cpu_seconds": round(job * 1.7, 3),
            "local_map_share": is_local / 12,
        },
        phases={name: round(job * share, 3) for name, share in shares.items()},
        hosts=localities,
    )
