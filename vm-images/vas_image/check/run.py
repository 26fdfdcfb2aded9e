"""Boots an image in QEMU, asks its guest agent, and reads its verdict."""

from __future__ import annotations

import json
import re
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vas_core.documents import parse_json
from vas_core.errors import VasError
from vas_core.process import CommandFailed, run
from vas_core.qemu import find_qemu
from vas_core.reading import read_end, read_limited
from vas_core.root import Root
from vas_core.seed import write_seed
from vas_image.check.firmware import find_firmware
from vas_image.check.machine import QemuBoot, qemu_argv
from vas_image.check.seed import check_seed, site
from vas_image.check.verdict import ImageVerdict
from vas_image.image import read_image

_CONSOLE_BYTES = 6000
_VERDICT_BYTES = 16 << 20
_ASK_SECONDS = 2.0
# Escape sequences of terminals (ECMA-48, 5.4), and systemd's line while it waits for a job.
_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[^\[]")
_WAITS = re.compile(r"\[[ *]{6}\] ")
# The status that `run` returns for a program that it stopped at the time-out.
_STOPPED = -1


@dataclass(frozen=True)
class BootStart:
    """How to start the image in `directory`. `direct`: by the kernel next to it, not by its boot
    loader."""

    directory: Path
    kvm: bool = False
    direct: bool = False

    def boot(self, work: Path) -> QemuBoot:
        """Returns the machine to boot, with its files in `work`.

        Raises NotHere if QEMU or a needed firmware is missing, BadInput if there is no image.
        """
        _, guest = site()
        image = read_image(self.directory)
        by_itself = image.boots_by_itself and not self.direct
        return QemuBoot(
            directory=self.directory,
            image=image,
            seed=work / "seed.iso",
            macs=(guest.macs.vf, guest.macs.virtio),
            work=work,
            qemu=find_qemu(),
            kvm=self.kvm,
            firmware=find_firmware(Root()) if by_itself else None,
        )


@dataclass(frozen=True)
class BootReport:
    """The result of a boot. `agent`: the guest agent answered while the machine ran.

    `off`: the machine turned itself off in time; `console` is the end of its output.
    """

    verdict: ImageVerdict
    agent: bool
    off: bool
    console: str


def boot(start: BootStart, work: Path, *, timeout_seconds: float) -> BootReport:
    """Boots an image, whose disk is not written to; the directory `work` gets its console.

    Raises VasError, with the end of the console's output, if QEMU fails, or if the machine ends, or
    runs longer than `timeout_seconds`, without a verdict; NotHere if QEMU or a needed firmware is
    missing; BadInput if there is no image.
    """
    given = start.boot(work)
    write_seed(given.seed, check_seed(kvm=start.kvm))
    ended, answered = threading.Event(), threading.Event()
    listener = threading.Thread(target=_listen, args=(given.agent, ended, answered), daemon=True)
    listener.start()
    try:
        off = _run(given, timeout_seconds)
    finally:
        ended.set()
        listener.join()
    return BootReport(_verdict(given), answered.is_set(), off, _console(given))


def _run(given: QemuBoot, timeout_seconds: float) -> bool:
    """Tells whether the machine turned itself off. Raises VasError if not, without a verdict."""
    argv = ["setpriv", "--pdeathsig", "KILL", *qemu_argv(given)]
    try:
        run(argv, timeout_seconds=timeout_seconds)
    except CommandFailed as failed:
        if not (failed.completed.status == _STOPPED and _said(given)):
            raise VasError(_why(given, failed), where=str(given.directory)) from None
        return False
    return True


def _why(given: QemuBoot, failed: CommandFailed) -> str:
    said = (failed.completed.stderr or failed.completed.stdout).strip()
    return f"{failed.args[0].splitlines()[0][:200]}\n{said}\nconsole:\n{_console(given)}"


def _verdict(given: QemuBoot) -> ImageVerdict:
    content = _said(given)
    if not content:
        what = f"ended without a verdict; console:\n{_console(given)}"
        raise VasError(what, where=str(given.directory))
    return parse_json(
        content, ImageVerdict, kind="verdict", where=str(given.verdict), hint="look at the console"
    )


def _said(given: QemuBoot) -> bytes:
    if not given.verdict.exists():
        return b""
    return read_limited(given.verdict, _VERDICT_BYTES).strip()


def _console(given: QemuBoot) -> str:
    if not given.console.exists():
        return "nothing"
    return plain(read_end(given.console, _CONSOLE_BYTES).decode(errors="replace"))


def plain(console: str) -> str:
    """Removes colours, empty lines and the dots of waits from a console's output."""
    lines = _ESCAPE.sub("", console).replace("\r", "\n").splitlines()
    return "\n".join(line for line in lines if line.strip() and not _WAITS.match(line))


def _listen(path: Path, ended: threading.Event, answered: threading.Event) -> None:
    while not answered.is_set() and not ended.wait(_ASK_SECONDS):
        with suppress(OSError, ValueError):
            if _ping(path):
                answered.set()


def _ping(path: Path) -> bool:
    """Tells whether the guest agent answers `guest-ping`; skips answers to earlier tries."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(_ASK_SECONDS)
        channel.connect(str(path))
        channel.sendall(b'{"execute": "guest-ping"}\n')
        with channel.makefile("rb") as lines:
            return "return" in json.loads(lines.readline())
