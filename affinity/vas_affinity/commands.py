"""`vas affinity`: every vCPU, I/O thread and interrupt on the right core."""

from __future__ import annotations

import sys

import click

from vas_core.cli import main
from vas_core.lazy import Later, LazyGroup

# What only measures lives in bench, with the engine that plays rounds; nothing is imported here.
_LATER = {
    "apply": Later(
        "vas_affinity.apply.command:apply_command",
        "Make a plan true, read it back, print what was changed.",
    ),
    "bench": Later(
        "vas_bench.search.command:bench",
        "Measure the search: speed, distance from the optimum.",
    ),
    "daemon": Later(
        "vas_affinity.daemon.command:daemon",
        "Keep a plan true, take back what hurt: `vas-affinityd`.",
    ),
    "emit": Later(
        "vas_affinity.emit.command:emit", "Print a plan as libvirt XML, virsh commands or a script."
    ),
    "experiment": Later(
        "vas_bench.pinning.command:experiment",
        "Test whether pinning pays: tuned and not, pinned and not.",
    ),
    "explain": Later(
        "vas_affinity.explain.command:explain",
        "Show where a plan's score comes from, beside today's.",
    ),
    "graph": Later(
        "vas_affinity.graph.command:graph", "Find which threads talk to which, and how much."
    ),
    "map": Later(
        "vas_affinity.pictures.map_command:map_command",
        "Draw a host's CPUs: roles, interrupts, guests.",
    ),
    "measure": Later(
        "vas_affinity.measure.command:measure",
        "Measure how long a cache line takes from CPU to CPU.",
    ),
    "plan": Later(
        "vas_affinity.plan.command:plan",
        "Plan which CPU each vCPU, I/O thread or thread is to have.",
    ),
    "plot": Later(
        "vas_affinity.pictures.command:plot", "Draw a recording: each thread's core over time."
    ),
    "record": Later(
        "vas_affinity.record.command:record", "Record which core each thread runs on, over time."
    ),
    "rollback": Later(
        "vas_affinity.apply.command:rollback",
        "Give every value that VAS changed what it had before.",
    ),
    "show": Later(
        "vas_affinity.reading.command:show",
        "Show CPUs, memory, devices, interrupts, guests, threads.",
    ),
    "top": Later(
        "vas_affinity.top.command:top", "Watch threads: core, CPU, migrations, distance from IRQ."
    ),
    "verify": Later(
        "vas_affinity.apply.command:verify",
        "Compare this host with a plan; status 3 if they differ.",
    ),
}


@click.group(cls=LazyGroup, later=_LATER)
def affinity() -> None:
    """Place vCPUs, I/O threads and interrupts on cores, explained and drawn."""


def affinityd() -> None:
    """The program `vas-affinityd`."""
    main(["affinity", "daemon", *sys.argv[1:]])
