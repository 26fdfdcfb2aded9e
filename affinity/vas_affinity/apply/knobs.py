"""From a plan's pins, or a journal's entries, to what has to be turned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from vas_affinity.apply import group, guest, interrupt, thread
from vas_affinity.apply.knob import Gone, Knob
from vas_affinity.apply.virsh import Side, Virsh
from vas_affinity.cpulist import format_cpulist, parse_cpulist
from vas_affinity.placement import Pin, Target
from vas_core.errors import VasError
from vas_core.root import Root

GUEST_TARGETS = (Target.VCPU, Target.EMULATOR, Target.IOTHREAD)


@dataclass(frozen=True)
class Knobs:
    """Those of one host."""

    root: Root = field(default_factory=Root)
    virsh: Virsh = field(default_factory=Virsh)

    def of_pin(self, pin: Pin) -> list[Knob]:
        """What a pin turns: one value, of a guest the running and the defined one.

        Raises Gone, with the reason, where the plan's thing is not there as it was.
        """
        self._check_cpus(pin)
        if pin.target in GUEST_TARGETS:
            return self._of_guest(pin)
        if pin.target is Target.THREAD:
            return [self._of_thread(pin)]
        if pin.target is Target.INTERRUPT:
            return [self._of_interrupt(pin)]
        return [self._of_group(pin)]

    def of_key(self, key: str) -> Knob:
        """What a journal's entry is of. Raises VasError for one of another version."""
        kind, _, rest = key.partition(":")
        try:
            return self._makers[kind](rest)
        except (KeyError, ValueError) as wrong:
            raise VasError("the journal has an entry of another version", where=key) from wrong

    @property
    def _makers(self) -> dict[str, Callable[[str], Knob]]:
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

    def _of_guest(self, pin: Pin) -> list[Knob]:
        assert pin.guest is not None
        if pin.tid is not None and thread.started(self.root, pin.tid) != pin.start:
            raise Gone("the guest has ended, or started anew, since the plan was made")
        uuid = self.virsh.uuid(pin.guest)
        number = "" if pin.target is Target.EMULATOR else pin.name
        make = partial(guest.GuestKnob, pin.target, number)
        return [make(side, uuid, pin.guest, self.virsh, self.root, pin.tid) for side in Side]

    def _of_thread(self, pin: Pin) -> Knob:
        if pin.tid is None or pin.start is None:
            raise Gone("the plan does not say which thread this is: it was not made on this host")
        return thread.ThreadKnob(pin.tid, pin.start, pin.name, self.root)

    def _of_interrupt(self, pin: Pin) -> Knob:
        number = int(pin.name)
        if pin.device is not None and not interrupt.is_of(self.root, number, pin.device):
            raise Gone(f"it is not one of {pin.device}: make the plan again")
        return interrupt.InterruptKnob(number, interrupt.actions(self.root, number), self.root)

    def _of_group(self, pin: Pin) -> Knob:
        path = pin.name.strip("/")
        inode = group.inode(self.root, path)
        if inode is None:
            raise Gone("there is no such cgroup")
        return group.GroupKnob(path, inode, self.root)
