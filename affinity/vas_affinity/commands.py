"""The command group `vas affinity`: places vCPUs, I/O threads and interrupts on cores."""

from __future__ import annotations

import sys

import click

from vas_core.cli import main
from vas_core.lazy import Later, LazyGroup

# What only measures lives in bench, with the engine that plays rounds; nothing is imported here.
_LATER = {
    "apply": Later(
        "vas_affinity.apply.apply:apply_command",
        "Apply a plan, read the values back and print the changes.",
    ),
    "bench": Later(
        "vas_bench.search.command:bench",
        "Measure the search: speed, distance from the optimum.",
    ),
    "daemon": Later(
        "vas_affinity.daemon.daemon:daemon",
        "Keep a plan applied, revert harmful moves: vas-affinityd.",
    ),
    "emit": Later(
        "vas_affinity.plan.emit.emit:emit",
        "Print a plan as libvirt XML, virsh commands or a script.",
    ),
    "experiment": Later(
        "vas_bench.pinning.command:experiment",
        "Test whether pinning pays: tuned and not, pinned and not.",
    ),
    "explain": Later(
        "vas_affinity.plan.explain.explain:explain",
        "Show where the scores of a plan and of today come from.",
    ),
    "graph": Later(
        "vas_affinity.watch.graph.graph:graph", "Find which threads talk to which, and how much."
    ),
    "hook": Later(
        "vas_affinity.guest_start.command:hook",
        "Place a started guest's threads: for libvirt's hook.",
    ),
    "map": Later(
        "vas_affinity.pictures.map:map_command",
        "Draw a host's CPUs: roles, interrupts, guests.",
    ),
    "measure": Later(
        "vas_affinity.machine.measure.measure:measure",
        "Measure how long a cache line takes from CPU to CPU.",
    ),
    "pairs": Later(
        "vas_bench.pairs.command:pairs",
        "Test where two service threads belong, beside a disk.",
    ),
    "plan": Later(
        "vas_affinity.plan.plan:plan",
        "Plan which CPU each vCPU, I/O thread or thread gets.",
    ),
    "plot": Later(
        "vas_affinity.pictures.plot:plot", "Draw a recording: each thread's core over time."
    ),
    "record": Later(
        "vas_affinity.watch.record.record:record",
        "Record which core each thread runs on, over time.",
    ),
    "rollback": Later(
        "vas_affinity.apply.rollback:rollback",
        "Restore every value that VAS changed.",
    ),
    "show": Later(
        "vas_affinity.machine.reading.show:show",
        "Show CPUs, memory, devices, interrupts, guests, threads.",
    ),
    "top": Later(
        "vas_affinity.watch.top.top:top", "Watch threads: core, CPU, migrations, distance from IRQ."
    ),
    "verify": Later(
        "vas_affinity.apply.verify:verify",
        "Compare this host with a plan; status 3 if they differ.",
    ),
}


@click.group(cls=LazyGroup, later=_LATER)
def affinity() -> None:
    """Place vCPUs, I/O threads and interrupts on cores, explained and drawn."""


def affinityd() -> None:
    """Runs the program `vas-affinityd`, which is `vas affinity daemon`."""
    main(["affinity", "daemon", *sys.argv[1:]])
