"""What is on each CPU of a host, by a snapshot and by a plan: what the map draws. Pure."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass, field

from vas_affinity.cpulist import format_cpulist
from vas_affinity.placement import CpuRole, Pin, Placement, Target
from vas_affinity.snapshot import DeviceKind, Role, Snapshot
from vas_affinity.topology import Cpu
from vas_core.errors import BadInput

_WORDS = {
    Target.VCPU: "vCPU",
    Target.EMULATOR: "emulator",
    Target.IOTHREAD: "iothread",
    Target.THREAD: "thread",
    Target.INTERRUPT: "interrupt",
    Target.GROUP: "cgroup",
}
_MARKS = {Target.VCPU: "", Target.EMULATOR: "e", Target.IOTHREAD: "io"}


@dataclass
class Cell:
    """A CPU. `mark` is short enough for its square, `about` says all."""

    cpu: Cpu
    role: CpuRole | None = None
    mark: str = ""
    interrupts: set[DeviceKind] = field(default_factory=set)
    about: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class HostMap:
    """A host's CPUs, and the letters that stand for its guests."""

    snapshot: Snapshot
    cells: dict[int, Cell]
    guests: dict[str, str]
    planned: bool

    @property
    def title(self) -> str:
        """Whose map it is."""
        what = "as planned" if self.planned else "as it is"
        return f"{self.snapshot.host}: CPUs {what}"

    def roles(self) -> list[CpuRole]:
        """Those that some CPU has, in the order of their definition."""
        used = {cell.role for cell in self.cells.values()}
        return [role for role in CpuRole if role in used]


def host_map(snapshot: Snapshot, placement: Placement | None) -> HostMap:
    """What is on each CPU: by the plan, or without one as the snapshot says.

    Raises BadInput for a plan with CPUs that the snapshot has not.
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


def _check(cells: dict[int, Cell], placement: Placement, host: str) -> None:
    pinned = {cpu for pin in placement.pins for cpu in pin.cpus}
    strange = (placement.roles.keys() | pinned) - cells.keys()
    if strange:
        what = f"has CPUs that {host} has not: {format_cpulist(strange)}"
        hint = "give the machine that it was made for by --from"
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
    """Guests' threads where they last ran."""
    kinds = {
        Role.VCPU: CpuRole.VCPU,
        Role.EMULATOR: CpuRole.EMULATOR,
        Role.IOTHREAD: CpuRole.IOTHREAD,
    }
    for thread in snapshot.threads:
        cell = cells.get(thread.last_cpu) if thread.last_cpu is not None else None
        if cell is None:
            continue
        cell.about.append(f"{thread.key} last ran here")
        if thread.guest in letters and thread.role in kinds:
            cell.role = cell.role or kinds[thread.role]
            number = thread.key.rpartition("/")[2]
            mark = _MARKS[Target(thread.role.value)]
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
