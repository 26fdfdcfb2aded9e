#!/usr/bin/python
"""The Ansible module `vas_power`: syncs guests, shuts them down or cuts their power."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: vas_power
short_description: Guests synced, shut down, or without power, in a bounded time
description:
  - Asks libvirt by C(virsh), each call with a time-out, all guests at once. Needs nothing but the
    distribution's Python. Where libvirt does not answer, QEMU is found by its pid file.
options:
  names:
    description: The guests.
    type: list
    elements: str
    required: true
  action:
    description:
      - C(sync) lets each guest write its dirty pages, by its agent. C(shutdown) takes autostart
        away, tells the guests to shut down and waits. C(cut) ends QEMU. C(status) looks only.
    choices: [status, sync, shutdown, cut]
    default: status
  seconds:
    description: For how long a sync or a shutdown may take.
    type: int
    default: 10
  call_seconds:
    description: For how long one call of virsh may take.
    type: int
    default: 5
  pid_files:
    description: Where libvirt keeps QEMU's pid files, GUEST.pid.
    type: path
    default: /run/libvirt/qemu
  autostart_links:
    description: Where libvirt keeps a link for each guest that starts with the server.
    type: path
    default: /etc/libvirt/qemu/autostart
attributes:
  check_mode:
    support: full
author: the VAS project
"""

EXAMPLES = """
- name: Cut the power of guests that did not shut down
  vas_power:
    names: [vm1]
    action: cut
"""

RETURN = """
kept_down:
  description: Guests that no longer start with the server.
  type: list
  elements: str
  returned: always
running:
  description: Guests whose QEMU is there when the module ends.
  type: list
  elements: str
  returned: always
done:
  description: Guests that were synced, are down, or whose power was cut.
  type: list
  elements: str
  returned: always
failed_for:
  description: Guest -> why not.
  type: dict
  returned: always
libvirt:
  description: Why libvirt was not asked any more; empty where it answered.
  type: str
  returned: always
"""

_POLL_SECONDS = 0.5
# What the kernel takes to end a QEMU that has a virtual function, with gigabytes of pinned memory.
_END_SECONDS = 10.0
# virsh's words of a guest that ended by itself meanwhile.
_DOWN = "is not running"


class Silent(Exception):
    """libvirt did not answer within its time."""


class Libvirt:
    """virsh with a bound. After the first call without an answer nothing is asked any more."""

    def __init__(self, call_seconds: float) -> None:
        self.call_seconds = call_seconds
        self.silent = ""

    def ask(self, *words: str) -> tuple[int, str]:
        """Status and output of a command, or its errors. Raises Silent."""
        if self.silent:
            raise Silent(self.silent)
        try:
            status, output = bounded(["virsh", "--quiet", *words], self.call_seconds)
        except TimeoutError:
            self.silent = f"no answer to virsh {words[0]} within {self.call_seconds:g} s"
            raise Silent(self.silent) from None
        except FileNotFoundError:
            self.silent = "virsh is not installed"
            raise Silent(self.silent) from None
        return status, output


def bounded(argv: list[str], seconds: float) -> tuple[int, str]:
    """Runs a program; one that even SIGKILL does not end is left behind. Raises TimeoutError."""
    environment = {**os.environ, "LC_ALL": "C"}
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    process = subprocess.Popen(argv, stdin=null, stdout=pipe, stderr=pipe, env=environment)
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise TimeoutError from None
    return process.returncode, (out if process.returncode == 0 else errors).decode().strip()


class Guests:
    """The guests of a storage server that the map has."""

    def __init__(self, names: list[str], libvirt: Libvirt, pid_files: Path) -> None:
        self.names = names
        self.libvirt = libvirt
        self.pid_files = pid_files

    def running(self) -> list[str]:
        """Those whose QEMU is there: by libvirt, or where it is silent by their pid files."""
        try:
            status, listed = self.libvirt.ask("list", "--name")
        except Silent:
            status, listed = 1, ""
        if status == 0:
            return [name for name in self.names if name in listed.split()]
        return [name for name in self.names if self.pid(name)]

    def pid(self, name: str) -> int | None:
        """QEMU's process, if that of the pid file is this guest's and has not ended."""
        try:
            pid = int((self.pid_files / f"{name}.pid").read_text())
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, ValueError):
            return None
        mine = any(word.split(",")[0] in (f"guest={name}", name) for word in _after(words, "-name"))
        return pid if mine and state not in "ZX" else None

    def keep_down(self, links: Path) -> list[str]:
        """Takes autostart from all guests, running or not; returns those that had it.

        Where libvirt is silent their links go: it reads those when it starts the next time.
        """
        had = [name for name in self.names if (links / f"{name}.xml").is_symlink()]
        try:
            listed = self.libvirt.ask("list", "--name", "--all", "--autostart")[1].split()
            had = [name for name in self.names if name in listed]
            for name in had:
                self.libvirt.ask("autostart", "--disable", name)
        except Silent:
            for name in had:
                (links / f"{name}.xml").unlink(missing_ok=True)
        return had

    def shut_down(self, names: Iterable[str], seconds: float) -> list[str]:
        """Tells guests to shut down and waits; returns those that are down. Raises Silent."""
        asked = [*names]
        for name in asked:
            # One that is paused, or whose kernel hangs, cannot be told anything.
            self.libvirt.ask("shutdown", name)
        end = time.monotonic() + seconds
        while (left := {*self.running()} & {*asked}) and time.monotonic() < end:
            time.sleep(_POLL_SECONDS)
        return [name for name in asked if name not in left]

    def sync(self, name: str, seconds: float) -> None:
        """Lets a guest write its dirty pages by its agent. Raises Silent, OSError, TimeoutError.

        Not by guest-fsfreeze-freeze: the agent passes over file systems without a block device,
        as Lustre is.
        """
        end = time.monotonic() + seconds
        arguments = {"path": "/bin/sync", "capture-output": True}
        pid = self._agent(name, "guest-exec", arguments)["pid"]
        while not (found := self._agent(name, "guest-exec-status", {"pid": pid}))["exited"]:
            if time.monotonic() > end:
                raise TimeoutError(f"its sync did not end within {seconds:g} s")
            time.sleep(_POLL_SECONDS)
        if found.get("exitcode") != 0:
            said = base64.b64decode(found.get("err-data", "")).decode(errors="replace").strip()
            raise OSError(f"its sync failed: {said or found}")

    def _agent(self, name: str, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
        asked = json.dumps({"execute": command, "arguments": arguments})
        bound = str(max(1, int(self.libvirt.call_seconds) - 1))
        status, said = self.libvirt.ask("qemu-agent-command", "--timeout", bound, name, asked)
        if status != 0:
            raise OSError(" ".join(said.replace("error: ", "").split()))
        answer: dict[str, Any] = json.loads(said)["return"]
        return answer

    def cut(self, name: str) -> None:
        """Ends a guest's QEMU, by libvirt or else by its process. Raises OSError, TimeoutError."""
        pid = self.pid(name)
        try:
            status, said = self.libvirt.ask("destroy", name)
        except Silent as silent:
            status, said = 1, str(silent)
        if status == 0 or _DOWN in said:
            return
        if pid is None:
            raise OSError(f"{said}; and its pid file is not a running QEMU's")
        os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + _END_SECONDS
        while self.pid(name) == pid:
            if time.monotonic() > end:
                raise TimeoutError(
                    f"its QEMU, process {pid}, did not end within {_END_SECONDS:g} s"
                )
            time.sleep(_POLL_SECONDS / 5)


def _after(words: list[str], option: str) -> list[str]:
    return [words[n + 1] for n, word in enumerate(words[:-1]) if word == option]


def for_each(names: list[str], act: Callable[[str], None]) -> tuple[list[str], dict[str, str]]:
    """Acts on all guests at once; returns for whom it was done, and guest -> why not."""

    def tried(name: str) -> str:
        try:
            act(name)
        except (Silent, OSError, TimeoutError, KeyError, ValueError) as wrong:
            return str(wrong) or type(wrong).__name__
        return ""

    with ThreadPoolExecutor(max(1, len(names))) as pool:
        reasons = [*pool.map(tried, names)]
    failed_for = {name: reasons[n] for n, name in enumerate(names) if reasons[n]}
    return [name for name in names if name not in failed_for], failed_for


def act(guests: Guests, action: str, seconds: float) -> tuple[list[str], dict[str, str]]:
    """Does one action to the guests that run; returns for whom it was done, and why not."""
    running = guests.running()
    if action == "sync":
        return for_each(running, lambda name: guests.sync(name, seconds))
    if action == "cut":
        return for_each(running, guests.cut)
    if action == "shutdown":
        try:
            down = guests.shut_down(running, seconds)
        except Silent as silent:
            return [], dict.fromkeys(running, str(silent))
        late = f"does not shut down within {seconds:g} s"
        return down, {name: late for name in running if name not in down}
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
    kept_down = guests.keep_down(links) if action == "shutdown" else []
    done, failed_for = act(guests, action, given["seconds"])
    module.exit_json(
        changed=bool(kept_down or (done and action != "sync")),
        kept_down=kept_down,
        running=guests.running(),
        done=done,
        failed_for=failed_for,
        libvirt=guests.libvirt.silent,
    )


if __name__ == "__main__":
    main()
