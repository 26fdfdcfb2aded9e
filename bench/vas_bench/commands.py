"""`vas bench`: what VAS gains, measured in one run against what it replaces."""

from __future__ import annotations

import click

from vas_core.lazy import Later, LazyGroup

_LATER = {
    "arrivals": Later(
        "vas_bench.arrivals.command:arrivals",
        "Measure how late new threads are placed, and the CPU time.",
    ),
    "arms": Later(
        "vas_bench.arms.command:arms", "Run the demo's arms in rounds, and compare their times."
    ),
    "compare": Later(
        "vas_bench.compare.command:compare", "Hold results B against results A; status 3 if worse."
    ),
    "disk": Later("vas_bench.disk.command:disk", "Write and read a file on this machine's disk."),
    "fetch": Later(
        "vas_bench.fetch.command:fetch", "Measure one server of map output and its clients."
    ),
    "hsph": Later(
        "vas_bench.hsph.command:hsph", "Five phases, twice: an HSph-like metric, no TPC result."
    ),
    "interference": Later(
        "vas_bench.interference.command:interference",
        "Measure what YARN costs the storage service next to it.",
    ),
    "jbs": Later("vas_bench.jbs.command:jbs", "Measure vas-shuffled against stock's shuffle."),
    "layout": Later(
        "vas_bench.layout.command:layout", "Time reading layouts by attribute and by `lfs`."
    ),
    "placement": Later(
        "vas_bench.placement.command:placement", "Simulate the placement of a large job."
    ),
    "report": Later("vas_bench.report.command:report", "Write one HTML page on a file of results."),
    "reproduction": Later(
        "vas_bench.reproduction.command:reproduction",
        "Write the page of the papers' claims, with ours beside.",
    ),
    "run": Later("vas_bench.run.command:run", "Run a plan of workloads on systems, in rounds."),
    "scale": Later(
        "vas_bench.scale.command:scale", "Simulate the copy of map output on larger clusters."
    ),
    "shuffle": Later(
        "vas_bench.shuffle.command:shuffle",
        "Measure VAS's shuffle against stock MapReduce's and Tez's.",
    ),
    "spark": Later(
        "vas_bench.spark.command:spark", "Measure Spark's map output on Lustre against its own."
    ),
    "stats": Later(
        "vas_bench.statistics.command:stats", "Say whether arms differ, by how much, and how sure."
    ),
    "tune": Later(
        "vas_bench.tune.command:tune", "Look for faster job settings; recommend only what is sure."
    ),
    "usl": Later(
        "vas_bench.usl.command:usl", "Fit the Universal Scalability Law, and say what it hides."
    ),
    "waits": Later(
        "vas_bench.placement.waits_command:waits",
        "Simulate when it pays to wait for the host of the data.",
    ),
}


@click.group(cls=LazyGroup, later=_LATER)
def bench() -> None:
    """Measure one way of doing a thing against another, in rounds."""
