"""Reads interrupt lines: their device, the CPUs on which they fire, and how often."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.pci import PCI, kind_of, name_of, names_by_device
from vas_affinity.machine.snapshot import DeviceKind, Interrupt

_LINE = re.compile(r"\s*(\d+):\s+(.*)")
_QUEUE = re.compile(
    r"(?:(?:nvme\d+|^)q|(?:[tr]x|txrx|comp|req\.|request|put\.|msix|queue|fp)[-_]?|-)(\d+)$", re.I
)
_VIRTIO = re.compile(r"(virtio\d+)(?:-|$)")
_VIRTIOS = "sys/bus/virtio/devices"
_OTHER = DeviceKind.OTHER
_VIRTIO_KINDS = {1: DeviceKind.NETWORK, 2: DeviceKind.STORAGE, 8: DeviceKind.STORAGE}
"""The kinds of virtio's device numbers: net, blk, scsi."""
_MANAGED = re.compile(r"nvme\d+q[1-9]\d*$|virtio\d+-req(\.\d+|uest)")
"""Queues whose drivers ask for kernel-managed interrupts (PCI_IRQ_AFFINITY, Linux 4.8 on)."""


@dataclass(frozen=True)
class InterruptLine:
    """A numbered line of /proc/interrupts: how often it fired, and its handler's name."""

    count: int
    action: str


@dataclass(frozen=True)
class _Owner:
    device: str
    kind: DeviceKind
    msi: bool


def parse_interrupts(text: str) -> dict[int, InterruptLine]:
    """Parses the numbered lines of /proc/interrupts: number -> line."""
    head, *lines = text.splitlines() or [""]
    cpus = len(head.split())
    matches = (_LINE.fullmatch(line) for line in lines)
    return {int(match[1]): _line(match[2], cpus) for match in matches if match}


def _line(text: str, cpus: int) -> InterruptLine:
    words = text.split(maxsplit=cpus)
    counts = [int(word) for word in words[:cpus] if word.isdecimal()]
    rest = " ".join(words[len(counts) : cpus] + words[cpus:])
    # The kernel puts two blanks before the handlers' names, and the names may have blanks.
    return InterruptLine(sum(counts), re.split(r"\s{2,}", rest.strip())[-1])


def counts(files: TreeFiles) -> dict[int, InterruptLine] | None:
    """Reads how often each interrupt has fired.

    None, with a note, if /proc/interrupts is missing.
    """
    text = files.text("proc/interrupts")
    if text is None:
        files.note("proc/interrupts", "is not there: where interrupts fire is not known")
        return None
    return parse_interrupts(text)


def read_interrupts(
    files: TreeFiles, lines: Mapping[int, InterruptLine] | None, rates: Mapping[int, float]
) -> tuple[Interrupt, ...]:
    """Reads all interrupts in use.

    Of a tree without /proc/interrupts, returns those that PCI devices list.
    """
    owners = _owners(files)
    by_virtio = _virtio_owners(files)
    if lines is None:
        lines = {number: InterruptLine(0, "") for number, owner in owners.items() if owner.msi}
    return tuple(
        _interrupt(files, number, line, owners.get(number) or _by_name(line, by_virtio)).model_copy(
            update={"per_second": rates.get(number)}
        )
        for number, line in sorted(lines.items())
    )


def rates(
    before: Mapping[int, InterruptLine] | None,
    after: Mapping[int, InterruptLine] | None,
    seconds: float,
) -> dict[int, float]:
    """Returns interrupt number -> firings per second, for the interrupts of both readings."""
    if not before or not after or seconds <= 0:
        return {}
    return {
        number: max(0, line.count - before[number].count) / seconds
        for number, line in after.items()
        if number in before and line.action == before[number].action
    }


def _interrupt(files: TreeFiles, number: int, line: InterruptLine, owner: _Owner) -> Interrupt:
    at = f"proc/irq/{number}"
    node = files.number(f"{at}/node")
    return Interrupt(
        number=number,
        device=owner.device,
        kind=owner.kind,
        queue=queue_of(line.action),
        effective=files.cpus(f"{at}/effective_affinity_list", f"{at}/effective_affinity") or (),
        allowed=files.cpus(f"{at}/smp_affinity_list", f"{at}/smp_affinity") or (),
        managed=_managed(files, number, line.action, owner),
        node=None if node is None or node < 0 else node,
    )


def queue_of(action: str) -> int | None:
    """Returns the queue in a handler's name, 3 for `nvme0q3` and `eth0-TxRx-3`; None without."""
    match = _QUEUE.search(action.partition("@")[0])
    return int(match[1]) if match else None


def _managed(files: TreeFiles, number: int, action: str, owner: _Owner) -> bool | None:
    """Asks debugfs (CONFIG_GENERIC_IRQ_DEBUGFS), else goes by what the driver is known to use."""
    said = files.text(f"sys/kernel/debug/irq/irqs/{number}")
    if said is not None:
        return "IRQD_AFFINITY_MANAGED" in said
    return True if owner.msi and _MANAGED.match(action) else None


def _owners(files: TreeFiles) -> dict[int, _Owner]:
    """Returns the owner of each PCI interrupt: message-signalled ones, else the device's line."""
    names = names_by_device(files)
    owners: dict[int, _Owner] = {}
    for address in files.names(PCI):
        code = files.number(f"{PCI}/{address}/class") or 0
        device = name_of(names.get(address, ())) or address
        msi = [int(n) for n in files.names(f"{PCI}/{address}/msi_irqs") if n.isdecimal()]
        line = files.number(f"{PCI}/{address}/irq") if not msi else None
        for number in msi or ([line] if line else []):
            owners.setdefault(number, _Owner(device, kind_of(code >> 8), bool(msi)))
    return owners


def _virtio_owners(files: TreeFiles) -> dict[str, _Owner]:
    """Returns the owners of the interrupts of virtio devices that are not on PCI, by name."""
    names = names_by_device(files)
    kinds = {
        device: files.number(f"{_VIRTIOS}/{device}/device") for device in files.names(_VIRTIOS)
    }
    return {
        device: _Owner(
            name_of(names.get(device, ())) or device, _VIRTIO_KINDS.get(kind or 0, _OTHER), False
        )
        for device, kind in kinds.items()
    }


def _by_name(line: InterruptLine, by_virtio: Mapping[str, _Owner]) -> _Owner:
    match = _VIRTIO.match(line.action)
    known = by_virtio.get(match[1]) if match else None
    return known or _Owner(line.action, DeviceKind.OTHER, False)
