"""The setting of an interrupt's CPUs: `/proc/irq/N/smp_affinity_list`."""

from __future__ import annotations

import errno
from dataclasses import dataclass

from vas_affinity.apply.setting import Gone, Immovable, Value, normal
from vas_affinity.machine.reading.pci import CLASSES, PCI, address_in
from vas_core.root import Root

KIND = "interrupt"
_REFUSALS = {
    errno.EPERM: "the kernel manages this interrupt's CPUs",
    # Linux 6.1 answers so for managed ones too.
    errno.EIO: "the kernel manages this interrupt's CPUs, or its controller cannot direct it",
}


def actions(root: Root, number: int) -> str:
    """Returns the names of an interrupt's handlers, as the kernel reuses interrupt numbers."""
    found = (path for path in root.glob(f"proc/irq/{number}/*") if path.is_dir())
    return ",".join(path.name for path in found)


def is_of(root: Root, number: int, device: str) -> bool:
    """Tells whether an interrupt belongs to a device, named by disk, NIC or PCI address.

    True also if sysfs does not say which device it belongs to, as for devices that are not on PCI.
    """
    if device in actions(root, number).split(","):
        return True
    links = (root.link(f"{directory}/{device}") for directory in CLASSES)
    place = next(map(str, filter(None, links)), device)
    at = f"{PCI}/{address_in(place)}"
    if not root.path(at).is_dir():
        return place != device or root.path(f"sys/bus/virtio/devices/{device}").exists()
    lines = root.names(f"{at}/msi_irqs") or [root.read(f"{at}/irq") or ""]
    return str(number) in lines


@dataclass(frozen=True)
class InterruptCpus:
    """The CPUs of the interrupt `number`, as long as `actions` handle it."""

    number: int
    actions: str
    root: Root

    @property
    def key(self) -> str:
        return f"{KIND}:{self.number}:{self.actions}"

    @property
    def what(self) -> str:
        return f"interrupt {self.number} ({self.actions or 'no handler'})"

    def read(self) -> Value:
        """Returns the mask. Raises Gone if the device is gone or the number was reused."""
        text = self.root.read(self._file)
        if text is None or actions(self.root, self.number) != self.actions:
            raise Gone("the device has gone, or another one has its number")
        return normal(text)

    def write(self, value: Value) -> None:
        """Changes the mask. Raises Gone, or Immovable if the kernel manages the interrupt."""
        self.read()
        try:
            self.root.path(self._file).write_text(value or "")
        except OSError as refused:
            if refused.errno in _REFUSALS:
                raise Immovable(_REFUSALS[refused.errno]) from None
            raise

    @property
    def _file(self) -> str:
        return f"proc/irq/{self.number}/smp_affinity_list"


def interrupt_of_key(rest: str, root: Root) -> InterruptCpus:
    """Returns the setting of a journal key; `rest` is the key without its kind."""
    number, _, names = rest.partition(":")
    return InterruptCpus(int(number), names, root)
