"""The command group `vas a2av`: a faster MPI_Alltoallv of small blocks."""

from __future__ import annotations

import click

from vas_core.lazy import Later, LazyGroup

_LATER = {
    "bench": Later(
        "vas_a2av.bench_command:bench",
        "Time calls of each algorithm, simulated or on an MPI.",
    ),
    "build": Later("vas_a2av.build_command:build", "Build the library for this machine's MPIs."),
    "demo": Later(
        "vas_a2av.demo_command:demo", "Count the packets between four nodes of four ranks."
    ),
    "explain": Later(
        "vas_a2av.explain_command:explain", "Predict the cost of each algorithm, by a model."
    ),
    "grid": Later(
        "vas_a2av.grid_command:grid",
        "Compare the library's choice with MPI's own, simulated.",
    ),
    "sort": Later(
        "vas_a2av.sort_command:sort", "Simulate a bucket sort like NAS IS with each algorithm."
    ),
    "tune": Later(
        "vas_a2av.tune_command:tune",
        "Measure this machine's messages and copies.",
    ),
    "verify": Later(
        "vas_a2av.verify_command:verify", "Compare the library with an MPI, byte for byte."
    ),
}


@click.group(cls=LazyGroup, later=_LATER)
def a2av() -> None:
    """Exchange unequal blocks between MPI ranks in few messages."""
