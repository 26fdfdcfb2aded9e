"""Finds the settings of a plan's pins, and of a journal's entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from vas_affinity.apply import group, guest, interrupt, thread
from vas_affinity.apply.setting import Gone, Setting
from vas_affinity.machine.cpulist import format_cpulist, parse_cpulist
from vas_affinity.machine.reading.virsh import Side, Virsh
from vas_affinity.placement import Pin, PinTarget
from vas_core.errors import VasError
from vas_core.root import Root

GUEST_TARGETS = (PinTarget.VCPU, PinTarget.EMULATOR, PinTarget.IOTHREAD)


@dataclass(frozen=True)
class HostSettings:
    """The settings of one host: its kernel's files under `root`, and its libvirt."""

    root: Root = field(default_factory=Root)
    virsh: Virsh = field(default_factory=Virsh)

    def of_pin(self, pin: Pin) -> list[Setting]:
        """Returns the settings of a pin: one, or of a guest the running and the defined one.

        Raises Gone, with the reason, if the thread, interrupt, guest or cgroup is not the one that
        the plan meant.
        """
        self._check_cpus(pin)
        if pin.target in GUEST_TARGETS:
            return self._of_guest(pin)
        if pin.target is PinTarget.THREAD:
            return [self._of_thread(pin)]
        if pin.target is PinTarget.INTERRUPT:
            return [self._of_interrupt(pin)]
        return [self._of_group(pin)]

    def of_key(self, key: str) -> Setting:
        """Returns the setting that a journal's entry names.

        Raises VasError if another version of VAS wrote the entry.
        """
        kind, _, rest = key.partition(":")
        try:
            return self._makers[kind](rest)
        except (KeyError, ValueError) as wrong:
            raise VasError("the journal has an entry of another version", where=key) from wrong

    @property
    def _makers(self) -> dict[str, Callable[[str], Setting]]:
        return {
            thread.KIND: lambda rest: thread.thread_of_key(rest, self.root),
            interrupt.KIND: lambda rest: interrupt.interrupt_of_key(rest, self.root),
            group.KIND: lambda rest: group.group_of_key(rest, self.root),
            guest.KIND: lambda rest: guest.guest_of_key(rest, self.virsh, self.root),
        }

    def _check_cpus(self, pin: Pin) -> None:
        online = self.root.read("sys/devices/system/cpu/online")
        off = set(pin.cpus) - set(parse_cpulist(online)) if online else set()
        if off:
            are = "are" if len(off) > 1 else "is"
            raise Gone(f"CPU {format_cpulist(off)} {are} not online")

    def _of_guest(self, pin: Pin) -> list[Setting]:
        assert pin.guest is not None
        if pin.tid is not None and thread.started(self.root, pin.tid) != pin.start:
            raise Gone("the guest has ended or restarted since the plan was made")
        uuid = self.virsh.uuid(pin.guest)
        if uuid is None:
            raise Gone("there is no such guest here")
        number = "" if pin.target is PinTarget.EMULATOR else pin.name
        make = partial(guest.GuestCpus, pin.target, number)
        return [make(side, uuid, pin.guest, self.virsh, self.root, pin.tid) for side in Side]

    def _of_thread(self, pin: Pin) -> Setting:
        if pin.tid is None or pin.start is None:
            raise Gone("the plan does not say which thread this is: it was not made on this host")
        return thread.ThreadCpus(pin.tid, pin.start, pin.name, self.root)

    def _of_interrupt(self, pin: Pin) -> Setting:
        number = int(pin.name)
        if pin.device is not None and not interrupt.is_of(self.root, number, pin.device):
            raise Gone(f"it is not one of {pin.device}: make the plan again")
        return interrupt.InterruptCpus(number, interrupt.actions(self.root, number), self.root)

    def _of_group(self, pin: Pin) -> Setting:
        path = pin.name.strip("/")
        inode = group.inode(self.root, path)
        if inode is None:
            raise Gone("there is no such cgroup")
        return group.GroupCpus(path, inode, self.root)
