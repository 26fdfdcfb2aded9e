#!/usr/bin/python
"""The Ansible module `vas_power`: syncs guests, shuts them down or cuts their power."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.vas.site.plugins.module_utils.vas_virsh import (
    Agent,
    Libvirt,
    Silent,
    printable,
)

DOCUMENTATION = """
module: vas_power
short_description: Sync guests, shut them down or cut their power within a time limit
description:
  - Calls C(virsh) with a time limit, for all guests at once. Needs only the distribution's Python.
    Where libvirt does not answer, QEMU is found by its pid file.
options:
  names:
    description: Names of the guests.
    type: list
    elements: str
    required: true
  action:
    description:
      - C(sync) makes each guest write its dirty pages, by its agent. C(shutdown) disables
        autostart, tells the guests to shut down and waits. C(cut) ends QEMU. C(status) changes
        nothing.
    choices: [status, sync, shutdown, cut]
    default: status
  seconds:
    description: Number of seconds that a sync or a shutdown may take.
    type: int
    default: 10
  call_seconds:
    description: Number of seconds that one call of virsh may take, other than an agent's in a sync.
    type: int
    default: 5
  pid_files:
    description: Directory of libvirt's pid files of QEMU, GUEST.pid.
    type: path
    default: /run/libvirt/qemu
  autostart_links:
    description: Directory of libvirt's links to guests that start with the server.
    type: path
    default: /etc/libvirt/qemu/autostart
attributes:
  check_mode:
    support: full
author: the VAS project
"""

EXAMPLES = """
- name: Cut the power of guests that did not shut down
  vas.site.vas_power:
    names: [vm1]
    action: cut
"""

RETURN = """
kept_down:
  description: Guests that no longer start with the server.
  type: list
  elements: str
  returned: always
kept_up:
  description: Guest -> why the guest still starts with the server.
  type: dict
  returned: always
running:
  description: Guests whose QEMU runs when the module ends.
  type: list
  elements: str
  returned: always
done:
  description: Guests that were synced, are down, or whose power was cut.
  type: list
  elements: str
  returned: always
failed_for:
  description: Guest -> why the action failed.
  type: dict
  returned: always
libvirt:
  description: Why libvirt was not used any more; empty where C(virsh version) answered.
  type: str
  returned: always
"""

_POLL_SECONDS = 0.5
# Time for the kernel to end a QEMU that has a virtual function, with gigabytes of pinned memory.
_END_SECONDS = 10.0
# virsh's message for a guest that ended by itself meanwhile.
_DOWN = "is not running"


class Guests:
    """The guests of the map on this storage server, and actions on them."""

    def __init__(self, names: list[str], libvirt: Libvirt, pid_files: Path) -> None:
        self.names = names
        self.libvirt = libvirt
        self.pid_files = pid_files

    def running(self) -> list[str]:
        """Returns the guests whose QEMU runs, by libvirt, or by pid files if it does not answer."""
        try:
            status, listed = self.libvirt.ask("list", "--name")
        except (Silent, TimeoutError):
            status, listed = 1, ""
        if status == 0:
            return [name for name in self.names if name in listed.split()]
        return [name for name in self.names if self.pid(name)]

    def pid(self, name: str) -> int | None:
        """Returns the process of the guest's QEMU; None if the pid file does not name it."""
        try:
            pid = int((self.pid_files / f"{name}.pid").read_text())
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, ValueError):
            return None
        mine = any(word.split(",")[0] in (f"guest={name}", name) for word in _after(words, "-name"))
        return pid if mine and state not in "ZX" else None

    def keep_down(self, links: Path) -> tuple[list[str], dict[str, str]]:
        """Disables autostart of all guests, running or not.

        Returns the guests whose autostart was disabled, and guest -> why autostart is still on.
        Where libvirt does not disable it the link is removed: libvirt reads links when it starts.
        """
        try:
            status, listed = self.libvirt.ask("list", "--name", "--all", "--autostart")
        except (Silent, TimeoutError):
            status, listed = 1, ""
        had = [name for name in self.names if (links / f"{name}.xml").is_symlink()]
        if status == 0:
            had = [name for name in self.names if name in listed.split()]

        def forget(name: str) -> None:
            try:
                status, _ = self.libvirt.ask("autostart", "--disable", name)
            except (Silent, TimeoutError):
                status = 1
            if status != 0:
                (links / f"{name}.xml").unlink(missing_ok=True)

        return for_each(had, forget)

    def shut_down(self, names: list[str], seconds: float) -> tuple[list[str], dict[str, str]]:
        """Tells guests to shut down, all at once, and waits up to `seconds`.

        Returns the guests that are down, and guest -> why the guest still runs.
        """
        told, failed_for = for_each(names, self._tell)
        end = time.monotonic() + seconds
        left = {*names}
        while told and (left := {*self.running()} & {*names}) & {*told}:
            if time.monotonic() > end:
                break
            time.sleep(_POLL_SECONDS)
        late = f"does not shut down within {seconds:g} s"
        why = {name: failed_for.get(name, late) for name in names if name in left}
        return [name for name in names if name not in left], why

    def _tell(self, name: str) -> None:
        """By ACPI alone: without a mode libvirt asks the agent first, and waits for it.

        A guest that is paused, or whose kernel hangs, does not react.
        """
        status, said = self.libvirt.ask("shutdown", "--mode", "acpi", name)
        if status != 0 and _DOWN not in said:
            raise OSError(said.replace("error: ", ""))

    def cut(self, name: str) -> None:
        """Ends a guest's QEMU by libvirt, or else by SIGKILL.

        Raises OSError if QEMU's process is unknown, TimeoutError if it does not end.
        """
        pid = self.pid(name)
        try:
            status, said = self.libvirt.ask("destroy", name)
        except (Silent, TimeoutError) as wrong:
            status, said = 1, str(wrong)
        if status == 0 or _DOWN in said:
            return
        if pid is None:
            raise OSError(f"{said}; and the pid file names no running QEMU")
        if self.pid(name) != pid:
            return  # It ended while virsh was waited for: the number may be another process's now.
        os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + _END_SECONDS
        while self.pid(name) == pid:
            if time.monotonic() > end:
                raise TimeoutError(f"QEMU, process {pid}, did not end within {_END_SECONDS:g} s")
            time.sleep(_POLL_SECONDS / 5)


def _after(words: list[str], option: str) -> list[str]:
    return [words[n + 1] for n, word in enumerate(words[:-1]) if word == option]


def for_each(names: list[str], act: Callable[[str], None]) -> tuple[list[str], dict[str, str]]:
    """Calls `act` for all guests at once; returns the successful guests, and guest -> error.

    An exception of one guest, whose agent may answer anything, does not affect the others.
    """

    def tried(name: str) -> str:
        try:
            act(name)
        except Exception as wrong:
            return printable(str(wrong)) or type(wrong).__name__
        return ""

    with ThreadPoolExecutor(max(1, len(names))) as pool:
        reasons = [*pool.map(tried, names)]
    failed_for = {name: reasons[n] for n, name in enumerate(names) if reasons[n]}
    return [name for name in names if name not in failed_for], failed_for


def act(guests: Guests, action: str, seconds: float) -> tuple[list[str], dict[str, str]]:
    """Performs one action on the running guests; returns successful ones, and guest -> error."""
    running = guests.running()
    if action == "sync":
        return for_each(running, lambda name: Agent(guests.libvirt, name).sync(seconds))
    if action == "cut":
        return for_each(running, guests.cut)
    if action == "shutdown":
        return guests.shut_down(running, seconds)
    return [], {}


def main() -> None:
    arguments = {
        "names": {"type": "list", "elements": "str", "required": True},
        "action": {"choices": ["status", "sync", "shutdown", "cut"], "default": "status"},
        "seconds": {"type": "int", "default": 10},
        "call_seconds": {"type": "int", "default": 5},
        "pid_files": {"type": "path", "default": "/run/libvirt/qemu"},
        "autostart_links": {"type": "path", "default": "/etc/libvirt/qemu/autostart"},
    }
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
    given = module.params
    guests = Guests(given["names"], Libvirt(given["call_seconds"]), Path(given["pid_files"]))
    action = "status" if module.check_mode else given["action"]
    links = Path(given["autostart_links"])
    kept_down, kept_up = guests.keep_down(links) if action == "shutdown" else ([], {})
    done, failed_for = act(guests, action, given["seconds"])
    module.exit_json(
        changed=bool(kept_down or (done and action != "sync")),
        kept_down=kept_down,
        kept_up=kept_up,
        running=guests.running(),
        done=done,
        failed_for=failed_for,
        libvirt=guests.libvirt.silent,
    )


if __name__ == "__main__":
    main()
