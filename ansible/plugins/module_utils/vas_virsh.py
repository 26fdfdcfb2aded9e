"""Calls virsh, and a guest's agent through virsh, each with a time limit. Python 3.9."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
import time
from typing import Any

_POLL_SECONDS = 0.5
_MOST_CHARS = 400


class Silent(Exception):
    """libvirt did not answer in time, or virsh cannot run."""


class Libvirt:
    """Runs virsh commands with a time limit.

    Only `virsh version`, which depends on no guest, decides whether libvirt answers. It runs before
    the first command, and again after each late one, as a late call may be due to one guest alone.
    """

    def __init__(self, call_seconds: float) -> None:
        self.call_seconds = call_seconds
        self.silent = ""
        self._answers = False
        self._lock = threading.Lock()

    def ask(self, *words: str, seconds: float | None = None) -> tuple[int, str]:
        """Returns status and output of a virsh command; on failure status and stderr.

        `seconds`: time limit, by default `call_seconds`.

        Raises Silent if libvirt does not answer at all, TimeoutError if this call was late.
        """
        self._prove()
        within = self.call_seconds if seconds is None else seconds
        try:
            return bounded(["virsh", "--quiet", *words], within)
        except TimeoutError:
            self._answers = False
            raise TimeoutError(f"no answer to virsh {words[0]} within {within:g} s") from None

    def _prove(self) -> None:
        with self._lock:
            if not self.silent and not self._answers:
                self.silent = self._why_silent()
                self._answers = not self.silent
            if self.silent:
                raise Silent(self.silent)

    def _why_silent(self) -> str:
        try:
            status, said = bounded(["virsh", "--quiet", "version"], self.call_seconds)
        except TimeoutError:
            return f"no answer to virsh version within {self.call_seconds:g} s"
        except FileNotFoundError:
            return "virsh is not installed"
        except OSError as wrong:
            return f"virsh does not start: {wrong}"
        return "" if status == 0 else printable(said) or f"virsh version ended with {status}"


class Agent:
    """The QEMU agent of one guest. The guest's root controls type and time of every answer."""

    def __init__(self, libvirt: Libvirt, name: str) -> None:
        self._libvirt = libvirt
        self._name = name

    def sync(self, seconds: float) -> None:
        """Makes the guest write its dirty pages, and waits for the end.

        Runs /bin/sync, as guest-fsfreeze-freeze skips file systems without a block device, like
        Lustre. Raises Silent if libvirt does not answer, OSError if the sync fails, TimeoutError
        if it does not end within `seconds`, ValueError if the agent's answer has another form.
        """
        end = time.monotonic() + seconds
        arguments = {"path": "/bin/sync", "capture-output": True}
        pid = _field(self._answer(end, "guest-exec", arguments), "pid", int)
        found = self._answer(end, "guest-exec-status", {"pid": pid})
        while not _field(found, "exited", bool):
            if time.monotonic() > end:
                raise TimeoutError(f"the guest's sync did not end within {seconds:g} s")
            time.sleep(_POLL_SECONDS)
            found = self._answer(end, "guest-exec-status", {"pid": pid})
        # A process that a signal ended has no exit code.
        if "exitcode" not in found or _field(found, "exitcode", int) != 0:
            said = base64.b64decode(_field({"err-data": "", **found}, "err-data", str))
            raise OSError(
                f"the guest's sync failed: {said.decode(errors='replace').strip() or found}"
            )

    def _answer(self, end: float, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Returns what the agent answers before `end`, or within a second where that is later.

        libvirt waits 5 s for an agent's first sign of life, whatever --timeout says.
        """
        left = max(1.0, end - time.monotonic())
        words = [f"{int(left)}", self._name, json.dumps(_command(command, arguments))]
        status, said = self._libvirt.ask("qemu-agent-command", "--timeout", *words, seconds=left)
        if status != 0:
            raise OSError(said.replace("error: ", ""))
        answer = json.loads(said)
        if not isinstance(answer, dict):
            raise ValueError(f"the agent's answer is not an object: {said}")
        found: dict[str, Any] = _field(answer, "return", dict)
        return found


def _command(command: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"execute": command, "arguments": arguments}


def _field(answer: dict[str, Any], key: str, kind: type) -> Any:
    """Returns a field that has exactly this type; a bool is not an int here."""
    value = answer.get(key)
    if type(value) is not kind:
        raise ValueError(f"the agent's answer has no {key} of type {kind.__name__}: {answer}")
    return value


def printable(text: str) -> str:
    """Returns output of a guest or program as one short line without control characters."""
    line = " ".join(text.split())
    return "".join(char if char.isprintable() else "?" for char in line)[:_MOST_CHARS]


def bounded(argv: list[str], seconds: float) -> tuple[int, str]:
    """Runs a program and returns its status and output; on failure its status and stderr.

    Raises TimeoutError after `seconds`; a program that survives SIGKILL is left behind.
    """
    environment = {**os.environ, "LC_ALL": "C"}
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    process = subprocess.Popen(argv, stdin=null, stdout=pipe, stderr=pipe, env=environment)
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise TimeoutError from None
    said = out if process.returncode == 0 else errors
    return process.returncode, said.decode(errors="replace").strip()
