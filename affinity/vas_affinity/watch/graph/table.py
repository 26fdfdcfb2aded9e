"""Prints a communication graph as a table for people."""

from __future__ import annotations

from vas_affinity.watch.graph.watch import CommunicationGraph
from vas_affinity.watch.thread_keys import label
from vas_core.cli import note
from vas_core.table import print_table

_SHOWN = 30


def print_graph(found: CommunicationGraph) -> None:
    """Prints the heaviest pairs of threads, and which threads serve which devices."""
    shown = found.pairs[:_SHOWN]
    names = found.names
    rows = (
        (
            label(pair.a, names.get(pair.a)),
            label(pair.b, names.get(pair.b)),
            f"{pair.weight:.1f}",
            "; ".join(pair.why),
        )
        for pair in shown
    )
    print_table(("a", "b", "weight", "why"), rows)
    if len(shown) < len(found.pairs):
        note(f"{len(found.pairs) - len(shown)} lighter pairs are not shown; --json has all")
    if found.devices:
        served = sorted(found.devices.items(), key=lambda item: -item[1].per_second)
        lines = (
            (label(key, names.get(key)), one.device, f"{one.per_second:.1f}") for key, one in served
        )
        print_table(("thread", "serves", "woken per second"), lines)


def print_cost(found: CommunicationGraph) -> None:
    """Prints what watching cost, and what could not be known, to stderr."""
    over = found.overhead
    note(
        f"{len(found.pairs)} pairs of {found.threads} threads in {found.seconds:.1f} s; watching "
        f"used {over.own:.2%} of a CPU, in the kernel {over.kernel:.2%}; wake-ups were counted "
        f"{over.counted:.0%} of the time, waits looked at {over.looks} times"
    )
    for one in found.unread:
        note(f"not known: {one.what}: {one.why}")
