"""Collects the content of a host's map: what a snapshot and a plan have on each CPU. Pure."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass, field

from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.machine.snapshot import DeviceKind, Snapshot, ThreadRole
from vas_affinity.machine.topology import Cpu
from vas_affinity.placement import CpuRole, HostPlacement, Pin, PinTarget
from vas_core.errors import BadInput

_WORDS = {
    PinTarget.VCPU: "vCPU",
    PinTarget.EMULATOR: "emulator",
    PinTarget.IOTHREAD: "iothread",
    PinTarget.THREAD: "thread",
    PinTarget.INTERRUPT: "interrupt",
    PinTarget.GROUP: "cgroup",
}
_MARKS = {PinTarget.VCPU: "", PinTarget.EMULATOR: "e", PinTarget.IOTHREAD: "io"}


@dataclass
class Cell:
    """A CPU of the map. `mark` is short enough for its square, `about` has all the details."""

    cpu: Cpu
    role: CpuRole | None = None
    mark: str = ""
    interrupts: set[DeviceKind] = field(default_factory=set)
    about: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class HostMap:
    """The CPUs of a host, by number, and the letter that stands for each guest.

    `planned`: the cells show a plan; without, the present state.
    """

    snapshot: Snapshot
    cells: dict[int, Cell]
    guests: dict[str, str]
    planned: bool

    @property
    def title(self) -> str:
        """Returns the map's title: the host, and whether it shows a plan."""
        what = "as planned" if self.planned else "as it is"
        return f"{self.snapshot.host}: CPUs {what}"

    def roles(self) -> list[CpuRole]:
        """Returns the roles that some CPU has, in the order of their definition."""
        used = {cell.role for cell in self.cells.values()}
        return [role for role in CpuRole if role in used]


def host_map(snapshot: Snapshot, placement: HostPlacement | None) -> HostMap:
    """Returns what is on each CPU: by the plan, or without one by the snapshot.

    Raises BadInput for a plan with CPUs that the snapshot does not have.
    """
    cells = {cpu.number: Cell(cpu, about=[_where(cpu)]) for cpu in snapshot.topology.cpus}
    names = [guest.name for guest in snapshot.guests]
    names += [pin.guest for pin in placement.pins if pin.guest] if placement else []
    letters = dict(zip(dict.fromkeys(names), _letters(), strict=False))
    if placement:
        _check(cells, placement, snapshot.host)
        for number, role in placement.roles.items():
            cells[number].role = role
            cells[number].about.append(f"role: {role.value}")
        for pin in placement.pins:
            _pin(cells, pin, letters)
    else:
        _present(cells, snapshot, letters)
    _interrupts(cells, snapshot)
    return HostMap(snapshot, cells, letters, placement is not None)


def _check(cells: dict[int, Cell], placement: HostPlacement, host: str) -> None:
    pinned = {cpu for pin in placement.pins for cpu in pin.cpus}
    strange = (placement.roles.keys() | pinned) - cells.keys()
    if strange:
        what = f"has CPUs that {host} does not have: {format_cpulist(strange)}"
        hint = "give the machine of the plan by --from"
        raise BadInput(what, where=f"the plan of {placement.host}", hint=hint)


def _pin(cells: dict[int, Cell], pin: Pin, letters: dict[str, str]) -> None:
    what = f"{_WORDS[pin.target]} {pin.name}".strip()
    who = f"{pin.guest} {what}" if pin.guest else what
    for number in pin.cpus:
        cells[number].about.append(f"{who}: {pin.reason}")
        if pin.guest and pin.target in _MARKS:
            name = pin.name if pin.name.isdecimal() else ""
            _mark(cells[number], f"{letters[pin.guest]}{_MARKS[pin.target]}{name}")


def _present(cells: dict[int, Cell], snapshot: Snapshot, letters: dict[str, str]) -> None:
    """Marks the CPUs on which guests' threads last ran."""
    kinds = {
        ThreadRole.VCPU: CpuRole.VCPU,
        ThreadRole.EMULATOR: CpuRole.EMULATOR,
        ThreadRole.IOTHREAD: CpuRole.IOTHREAD,
    }
    for thread in snapshot.threads:
        cell = cells.get(thread.last_cpu) if thread.last_cpu is not None else None
        if cell is None:
            continue
        cell.about.append(f"{thread.key} last ran here")
        if thread.guest in letters and thread.role in kinds:
            cell.role = cell.role or kinds[thread.role]
            number = thread.key.rpartition("/")[2]
            mark = _MARKS[PinTarget(thread.role.value)]
            _mark(cell, f"{letters[thread.guest]}{mark}{number if number.isdecimal() else ''}")


def _interrupts(cells: dict[int, Cell], snapshot: Snapshot) -> None:
    for irq in snapshot.interrupts:
        for number in irq.effective:
            if number in cells and irq.kind is not DeviceKind.OTHER:
                queue = "" if irq.queue is None else f" queue {irq.queue}"
                cells[number].about.append(f"interrupt {irq.number}: {irq.device}{queue}")
                cells[number].interrupts.add(irq.kind)


def _mark(cell: Cell, mark: str) -> None:
    cell.mark = mark if not cell.mark else f"{cell.mark.rstrip('+')}+"


def _where(cpu: Cpu) -> str:
    node = "" if cpu.node is None else f", NUMA node {cpu.node}"
    states = [] if cpu.online else ["offline"]
    states += ["isolated"] if cpu.isolated else []
    more = f" ({', '.join(states)})" if states else ""
    return f"CPU {cpu.number}{more}: core {cpu.core}, L3 {cpu.l3}{node}, package {cpu.package}"


def _letters() -> Iterator[str]:
    yield from string.ascii_uppercase
    yield from (a + b for a in string.ascii_uppercase for b in string.ascii_uppercase)
