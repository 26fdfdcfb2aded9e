"""Defines, starts, restarts and removes a guest in the libvirt of its storage server."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput, VasError
from vas_core.files import make_directories
from vas_core.polling import poll
from vas_core.reading import read_end
from vas_core.seed import read_seed, write_seed
from vas_guest.compare import GuestDifference, differences
from vas_guest.desired import DesiredGuest
from vas_guest.disks import lacking, make
from vas_guest.domain import console_file, to_text
from vas_guest.host_disks import refuse_disks
from vas_guest.host_network import (
    define_network,
    network_differences,
    refuse_without_functions,
    remove_network,
    start_network,
)
from vas_guest.libvirt import GuestLibvirt

_THERE = "there"
_ANSWERS, _ENDED = "answers", "ended"
_CONSOLE_BYTES = 2000
_ENDING_SECONDS = 120


@dataclass(frozen=True)
class GuestHost:
    """The storage server of guests; `uri` is its libvirt's, None for virsh's own default.

    All methods raise VasError with virsh's message where virsh fails, and NotHere without
    virsh.
    """

    uri: str | None = None

    @property
    def libvirt(self) -> GuestLibvirt:
        """Returns the libvirt of the storage server."""
        return GuestLibvirt(self.uri)

    def differences(self, desired: DesiredGuest) -> list[GuestDifference]:
        """Returns how the guest's disks, pool, seed and definition differ from the desired ones.

        Empty if all are as desired. The running machine may still differ from its
        definition.
        """
        disks = [GuestDifference(disk.path, _THERE, None) for disk in lacking(desired.guest)]
        pool = network_differences(self.libvirt, desired)
        return [*disks, *pool, *_seed_differences(desired), *self._domain(desired)]

    def is_there(self, desired: DesiredGuest) -> bool:
        """Tells whether the guest is defined or has a seed."""
        return desired.uuid in self._all() or desired.seed_file.exists()

    def is_running(self, desired: DesiredGuest) -> bool:
        """Tells whether the guest runs or is shutting down; it still uses its resources then."""
        return desired.uuid in self.libvirt.listed("list")

    def apply(self, desired: DesiredGuest) -> list[GuestDifference]:
        """Makes and defines what differs, reads it back, and returns what was changed.

        A running guest keeps running: its new definition counts from its next start. Raises
        VasError if libvirt did not take a part of the definition; BadInput if another
        machine has the guest's name, a disk is somebody else's, or the image or a VF is
        missing; CommandFailed if a disk cannot be made.
        """
        self.refuse_disks(desired)
        found = self.differences(desired)
        if not found:
            return []
        self._refuse_a_stranger(desired)
        refuse_without_functions(desired)
        text = to_text(desired.domain)  # a wrong one raises before anything is changed
        list(make(desired.guest, desired.image))
        if network_differences(self.libvirt, desired):
            define_network(self.libvirt, desired)
        if _seed_differences(desired):
            # QEMU's user can reach its seed, and cannot list the others'.
            make_directories(desired.seed_file.parent, mode=0o711)
            write_seed(desired.seed_file, desired.seed)
        if self._domain(desired):
            self.libvirt.do("define", "/dev/stdin", stdin=text)
        if left := self.differences(desired):
            first = left[0]
            what = (
                f"libvirt did not take {first.where}: desired {first.wished}, found {first.found}"
            )
            raise VasError(what, where=desired.guest.name)
        return found

    def refuse_disks(self, desired: DesiredGuest) -> None:
        """Raises BadInput for a disk of the guest that is somebody else's file or device."""
        refuse_disks(self.libvirt, desired)

    def start(self, desired: DesiredGuest) -> None:
        """Starts the guest unless it runs, and makes libvirt start it whenever its host boots.

        Raises VasError if it is shutting down and does not end in time.
        """
        self.libvirt.do("autostart", desired.uuid)
        self._await_end(desired)
        if not self.is_running(desired):
            if desired.network is not None:
                start_network(self.libvirt, desired)
            self.libvirt.do("start", desired.uuid)

    def _await_end(self, desired: DesiredGuest) -> None:
        """Waits for a guest "in shutdown": it is so until QEMU has given its memory back."""
        if self.is_running(desired):
            poll(
                lambda: self.libvirt.do("domstate", desired.uuid).strip(),
                lambda state: state != "in shutdown",
                _ENDING_SECONDS,
                f"{desired.guest.name} to end",
            )

    def restart(self, desired: DesiredGuest, timeout_seconds: float) -> None:
        """Shuts the guest down, if it runs, and starts it with its present definition.

        Raises VasError if it does not shut down in that time; it keeps running then.
        """
        if self.is_running(desired):
            self.libvirt.do("shutdown", desired.uuid)
            poll(
                lambda: self.is_running(desired),
                lambda runs: not runs,
                timeout_seconds,
                f"{desired.guest.name} to shut down",
            )
        self.start(desired)

    def await_agent(self, desired: DesiredGuest, timeout_seconds: float) -> None:
        """Waits until the guest has started, that is until its guest agent answers.

        Raises VasError with the end of its console if the agent does not answer in that time, or
        the guest ends before.
        """
        name = desired.guest.name
        try:
            poll(
                lambda: self._agent(desired),
                lambda seen: seen in (_ANSWERS, _ENDED),
                timeout_seconds,
                f"the agent of {name}",
            )
        except VasError as late:
            raise VasError(f"{late.what}{_console_end(desired)}", where=name) from None
        if not self.is_running(desired):
            raise VasError(f"ended before its agent answered{_console_end(desired)}", where=name)

    def _agent(self, desired: DesiredGuest) -> str:
        ping = json.dumps({"execute": "guest-ping"})
        try:
            self.libvirt.do("qemu-agent-command", desired.uuid, ping)
        except VasError as silent:
            return silent.what if self.is_running(desired) else _ENDED
        return _ANSWERS

    def remove(self, desired: DesiredGuest) -> bool:
        """Removes a guest's definition, seed and console log; its disks stay.

        Returns False if there was neither a definition nor a seed. Raises BadInput while it
        runs.
        """
        there = self.is_there(desired)
        if there and self.is_running(desired):
            hint = f"shut it down first: virsh shutdown {desired.guest.name}"
            raise BadInput("runs", where=desired.guest.name, hint=hint)
        if desired.uuid in self._all():
            self.libvirt.do("undefine", desired.uuid, "--nvram")
        remove_network(self.libvirt, desired)
        desired.seed_file.unlink(missing_ok=True)
        console = Path(console_file(desired.guest, desired.settings))
        for log in console.parent.glob(f"{console.name}*"):  # virtlogd keeps older ones
            log.unlink()
        return there

    def _all(self) -> list[str]:
        return self.libvirt.listed("list", "--all")

    def _refuse_a_stranger(self, desired: DesiredGuest) -> None:
        for uuid, name in self.libvirt.machines():
            if name == desired.guest.name and uuid != desired.uuid:
                hint = "undefine or rename that machine: VAS did not define it"
                raise BadInput(f"is defined with another UUID, {uuid}", where=name, hint=hint)

    def _domain(self, desired: DesiredGuest) -> list[GuestDifference]:
        if desired.uuid not in self._all():
            return [GuestDifference(f"/domain[{desired.guest.name}]", _THERE, None)]
        return differences(desired.domain, self.libvirt.machine(desired.uuid, "--inactive"))


def _seed_differences(desired: DesiredGuest) -> list[GuestDifference]:
    where = str(desired.seed_file)
    if not desired.seed_file.exists():
        return [GuestDifference(where, _THERE, None)]
    found = read_seed(desired.seed_file)
    return [
        GuestDifference(f"{where}:{name}", text, found.get(name))
        for name, text in desired.seed.items()
        if found.get(name) != text
    ]


def _console_end(desired: DesiredGuest) -> str:
    file = Path(console_file(desired.guest, desired.settings))
    try:
        printed = read_end(file, _CONSOLE_BYTES).decode(errors="replace")
    except (OSError, BadInput) as unread:
        printed = str(unread)
    return f"; {file} ends with:\n{printed}"
