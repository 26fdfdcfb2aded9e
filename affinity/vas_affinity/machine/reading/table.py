"""Prints a snapshot as text for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TypeVar

import click

from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.machine.snapshot import DeviceKind, Interrupt, Snapshot, Thread
from vas_affinity.machine.topology import Cpu, MachineTopology, NumaNode
from vas_core.shown import counted
from vas_core.sizes import format_size
from vas_core.table import print_table

_T = TypeVar("_T")
_K = TypeVar("_K", tuple[int, ...], tuple[str, str, str])
Row = Sequence[object]


def print_snapshot(snapshot: Snapshot) -> None:
    """Prints the whole snapshot, with interrupts grouped by device."""
    topology = snapshot.topology
    click.echo(heading(snapshot))
    _section(("PACKAGE", "DIE", "NODE", "L3", "CORES", "SMT", "KIND", "CPUS"), groups(topology))
    nodes = [_node(node, topology) for node in topology.nodes]
    _section(("NODE", "MEMORY", "HUGE PAGES", "DISTANCES", "CPUS"), nodes)
    devices = [
        (d.name, d.kind, _known(d.node), format_cpulist(d.cpus), d.driver or "-", d.address)
        for d in snapshot.devices
    ]
    _section(("DEVICE", "KIND", "NODE", "NEAR CPUS", "DRIVER", "ADDRESS"), devices)
    columns = ("INTERRUPTS OF", "KIND", "QUEUES", "NUMBERS", "FIRE ON", "MOVABLE", "PER SECOND")
    _section(columns, interrupts(snapshot.interrupts))
    guests = [
        (
            g.name,
            "runs" if g.running else "off",
            g.vcpus,
            format_size(g.memory_bytes),
            *_pins(g.pins),
        )
        for g in snapshot.guests
    ]
    _section(("GUEST", "STATE", "VCPUS", "MEMORY", "PINNED", "TO CPUS"), guests)
    columns = ("THREAD", "ROLE", "TID", "CPU", "LAST", "ALLOWED", "NAME")
    _section(columns, [_thread(thread) for thread in snapshot.threads])
    _section(("NOT READ", "WHY"), [(unread.what, unread.why) for unread in snapshot.unread])


def heading(snapshot: Snapshot) -> str:
    """Returns one line: counts of the machine's parts, and its offline and isolated CPUs."""
    topology = snapshot.topology
    cpus = [topology.cpu(number) for number in topology.online]
    counts = (
        (len({cpu.package for cpu in cpus}), "package"),
        (len({cpu.l3 for cpu in cpus}), "last-level cache"),
        (len({cpu.core for cpu in cpus}), "core"),
        (len(cpus), "CPU"),
        (len(topology.nodes), "NUMA node"),
    )
    parts = [counted(count, what) for count, what in counts]
    parts.append(format_size(sum(node.memory_bytes for node in topology.nodes)))
    offline = [cpu.number for cpu in topology.cpus if not cpu.online]
    isolated = [cpu.number for cpu in topology.cpus if cpu.isolated]
    parts += [f"offline {format_cpulist(offline)}"] if offline else []
    parts += [f"isolated {format_cpulist(isolated)}"] if isolated else []
    return f"{snapshot.host}: {', '.join(parts)}"


def groups(topology: MachineTopology) -> list[Row]:
    """Returns a row for the CPUs of each last-level cache and kind of core."""

    def group(cpu: Cpu) -> tuple[int, ...]:
        kind = -1 if cpu.efficiency is None else cpu.efficiency
        node = -1 if cpu.node is None else cpu.node
        return cpu.package, cpu.die, node, cpu.l3, kind

    rows: list[Row] = []
    for key, cpus in _grouped((topology.cpu(n) for n in topology.online), group):
        cores = {cpu.core for cpu in cpus}
        smt = max(sum(cpu.core == core for cpu in cpus) for core in cores)
        *ids, kind = ("-" if number < 0 else number for number in key)
        rows.append((*ids, len(cores), smt, kind, format_cpulist(cpu.number for cpu in cpus)))
    return rows


def interrupts(lines: Iterable[Interrupt]) -> list[Row]:
    """Returns a row for each device and mobility of its interrupts: yes, no or not known."""

    def group(line: Interrupt) -> tuple[str, str, str]:
        movable = {True: "no", False: "yes", None: "not known"}[line.managed]
        return line.kind, line.device, movable

    rows = [_interrupts(key, of) for key, of in _grouped(lines, group)]
    return sorted(rows, key=lambda row: list(DeviceKind).index(DeviceKind(str(row[1]))))


def _interrupts(key: tuple[str, str, str], lines: Sequence[Interrupt]) -> Row:
    kind, device, movable = key
    queues = format_cpulist(line.queue for line in lines if line.queue is not None)
    numbers = format_cpulist(line.number for line in lines)
    fires = format_cpulist(cpu for line in lines for cpu in line.effective)
    rates = [line.per_second for line in lines if line.per_second is not None]
    rate = f"{sum(rates):.0f}" if rates else "-"
    return device, kind, queues or "-", numbers, fires or "-", movable, rate


def _grouped(things: Iterable[_T], key: Callable[[_T], _K]) -> list[tuple[_K, list[_T]]]:
    return [(at, list(of)) for at, of in groupby(sorted(things, key=key), key=key)]


def _node(node: NumaNode, topology: MachineTopology) -> Row:
    pages = [f"{count} x {format_size(size)}" for size, count in node.huge_pages.items() if count]
    cpus = format_cpulist(n for n in topology.online if topology.cpu(n).node == node.number)
    distances = " ".join(map(str, node.distances.values()))
    memory = format_size(node.memory_bytes)
    return node.number, memory, ", ".join(pages) or "-", distances or "-", cpus or "-"


def _pins(pins: dict[str, str]) -> tuple[int, str]:
    return len(pins), " ".join(f"{key.partition('/')[2]}={cpus}" for key, cpus in pins.items())


def _thread(thread: Thread) -> Row:
    use = "-" if thread.cpu is None else f"{thread.cpu:.2f}"
    allowed = format_cpulist(thread.allowed)
    return (
        thread.key,
        thread.role,
        thread.tid,
        use,
        _known(thread.last_cpu),
        allowed,
        thread.name,
    )


def _known(number: int | None) -> object:
    return "-" if number is None else number


def _section(columns: Sequence[str], rows: Sequence[Row]) -> None:
    if rows:
        click.echo()
        print_table(columns, rows)
