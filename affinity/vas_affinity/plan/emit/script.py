"""Writes a placement as a bash script, for hosts where no daemon may run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from importlib.resources import files

from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.placement import HostPlacement, PinTarget
from vas_affinity.plan.emit.guests import pins_of
from vas_affinity.plan.emit.pages import pages_of
from vas_affinity.plan.emit.virsh import VirshCommand, guest_commands

_ABOUT = """\
#!/usr/bin/env bash
# Places guests, interrupts and threads of {host}; made by `vas affinity emit --as script`. Run it
# as root at boot, before the guests start, and again when they run; a repetition changes nothing.
# It needs virsh for guests and taskset for threads. Status 1: some lines, named on stderr, failed.
# A guest's topology and iothreads are in its definition: `vas affinity emit --as libvirt`.
"""


def script(placement: HostPlacement, guests: Sequence[str]) -> str:
    """Returns the script. Every line that changes something carries its reason."""
    head = files(__package__).joinpath("script_head.bash").read_text()
    body = [_call("only_on", placement.host), ""]
    body += [*_pages(placement, guests)]
    for guest in guests:
        body += ["", *(_guest_line(command) for command in guest_commands(placement, guest))]
    body += ["", *_interrupts(placement), "", *_threads(placement), "", 'exit "$failed"', ""]
    return _ABOUT.format(host=_one_line(placement.host)) + "\n" + head + "\n" + _squeezed(body)


def _call(*words: str, reason: str = "") -> str:
    return shlex.join(words) + (f"  # {_one_line(reason)}" if reason else "")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _squeezed(lines: Sequence[str]) -> str:
    kept = [line for line, after in zip(lines, [*lines[1:], "x"], strict=True) if line or after]
    return "\n".join(kept)


def _pages(placement: HostPlacement, guests: Sequence[str]) -> Iterator[str]:
    for pages in pages_of(placement, guests):
        words = ("pages", str(pages.node), str(pages.page_bytes // 1024), str(pages.count))
        yield _call(*words, reason=f"memory of {', '.join(pages.guests)}, near its vCPUs")


def _guest_line(command: VirshCommand) -> str:
    function = "guest" if command.live else "defined"
    return _call(function, *command.arguments, reason=command.reason)


def _interrupts(placement: HostPlacement) -> Iterator[str]:
    for pin in pins_of(placement, PinTarget.INTERRUPT):
        words = ("interrupt", pin.name, pin.device or "", format_cpulist(pin.cpus))
        yield _call(*words, reason=pin.reason)


def _threads(placement: HostPlacement) -> Iterator[str]:
    for pin in pins_of(placement, PinTarget.THREAD):
        if pin.tid is not None:
            words = ("thread", str(pin.tid), str(pin.start or 0), format_cpulist(pin.cpus))
            yield _call(*words, reason=f"{pin.name}: {pin.reason}")
