"""The settings of a guest's vCPUs, emulator and iothreads, by `virsh vcpupin` and its kin."""

from __future__ import annotations

import os
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from vas_affinity.apply.setting import Gone, Value, normal
from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.machine.reading.virsh import Side, Virsh
from vas_affinity.placement import PinTarget
from vas_core.errors import VasError
from vas_core.root import Root

KIND = "guest"
_COMMANDS = {
    PinTarget.VCPU: ("vcpupin", "vcpu"),
    PinTarget.EMULATOR: ("emulatorpin", None),
    PinTarget.IOTHREAD: ("iothreadpin", "iothread"),
}
"""The command, which is its element's name too, and the attribute that has the number."""


@dataclass(frozen=True)
class GuestCpus:
    """The CPUs of one vCPU, emulator or iothread, in one of the guest's two descriptions.

    `number` is empty for the emulator. A running guest always has CPUs; a definition may have no
    pin, and a rollback then removes the pin.
    """

    target: PinTarget
    number: str
    side: Side
    uuid: str
    name: str
    virsh: Virsh
    root: Root
    tid: int | None = None
    """The thread, if the plan knows it: its mask is then read from the kernel, not from libvirt."""

    @property
    def key(self) -> str:
        parts = (KIND, self.target, self.number, self.side.value, self.uuid, self.name)
        return ":".join(parts)

    @property
    def what(self) -> str:
        where = "now" if self.side is Side.LIVE else "defined"
        return " ".join(filter(None, (self.target.value, self.number, "of", self.name, where)))

    def read(self) -> Value:
        """Returns the CPUs; None for a definition without a pin.

        Raises Gone if the guest, its description or the vCPU or iothread is not there any
        more, VasError with virsh's message if virsh fails.
        """
        document = self._document()
        self._check_number(document)
        pin = self._pin(document)
        if self.side is Side.LIVE and self.tid is not None:
            return self._of_kernel(self.tid)
        if pin is not None:
            return normal(pin.get("cpuset", ""))
        return self._unpinned(document) if self.side is Side.LIVE else None

    def write(self, value: Value) -> None:
        """Pins to the CPUs; None removes the pin.

        Raises Gone if the guest or its description is not there any more, VasError with
        virsh's message.
        """
        if value is None:
            self._unpin()
            return
        self._check_there()
        command = _COMMANDS[self.target][0]
        numbers = [self.number] if self.number else []
        self.virsh.do(command, self.uuid, *numbers, value, f"--{self.side.value}")
        self.virsh.forget_guest(self.uuid)

    def _of_kernel(self, tid: int) -> str:
        try:
            return format_cpulist(os.sched_getaffinity(tid))
        except ProcessLookupError:
            raise Gone("the guest has ended") from None

    def _document(self) -> Element:
        self._check_there()
        return self.virsh.document(self.uuid, self.side)

    def _check_there(self) -> None:
        if self.side is Side.LIVE and not self.virsh.is_running(self.uuid):
            raise Gone("the guest does not run")
        if self.side is Side.DEFINED and not self.virsh.is_defined(self.uuid):
            raise Gone("the guest has no definition: it ends for good")

    def _pin(self, document: Element) -> Element | None:
        element, attribute = _COMMANDS[self.target]
        for pin in document.iterfind(f"cputune/{element}"):
            if attribute is None or pin.get(attribute) == self.number:
                return pin
        return None

    def _unpinned(self, document: Element) -> str:
        """Returns the CPUs of an unpinned thread: all, or those of `<vcpu cpuset>`."""
        cpus = document.find("vcpu")
        given = cpus.get("cpuset") if cpus is not None else None
        return normal(given or self.root.read("sys/devices/system/cpu/online") or "")

    def _check_number(self, document: Element) -> None:
        if self.target is PinTarget.VCPU:
            vcpus = int(document.findtext("vcpu") or 1)
            if int(self.number) >= vcpus:
                raise Gone(f"the guest has {vcpus} vCPUs")
        elif self.target is PinTarget.IOTHREAD and self.number not in _iothreads(document):
            raise Gone("the guest has no such iothread")

    def _unpin(self) -> None:
        """Redefines the guest without the pin: virsh can change a pin but not remove it."""
        document = self._document()
        pin, tune = self._pin(document), document.find("cputune")
        if pin is None or tune is None:
            return
        tune.remove(pin)
        if not len(tune):
            document.remove(tune)
        self.virsh.define(document)
        self.virsh.forget_guest(self.uuid)


def guest_of_key(rest: str, virsh: Virsh, root: Root) -> GuestCpus:
    """Returns the setting of a journal key; `rest` is the key without its kind.

    Raises VasError if another version of VAS wrote the entry.
    """
    target, number, side, uuid, name = rest.split(":", 4)
    try:
        return GuestCpus(PinTarget(target), number, Side(side), uuid, name, virsh, root)
    except ValueError as wrong:
        raise VasError(f"the journal has an entry of another version: {rest}") from wrong


def _iothreads(document: Element) -> set[str]:
    named = {thread.get("id", "") for thread in document.iterfind("iothreadids/iothread")}
    count = int(document.findtext("iothreads") or 0)
    return named or {str(number) for number in range(1, count + 1)}
