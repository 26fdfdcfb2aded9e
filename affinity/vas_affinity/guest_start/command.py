"""The command `vas affinity hook`, which libvirt's hook runs when a guest has started."""

from __future__ import annotations

import socket
import sys
from contextlib import suppress
from pathlib import Path

import click

from vas_affinity.apply.options import HostOptions, host_options
from vas_affinity.guest_start.counts import INCOMPLETE, count
from vas_affinity.guest_start.ladder import Ladder, StartFiles
from vas_affinity.guest_start.place import GuestStarted, place
from vas_affinity.guest_start.rung import StartRung
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.guests import parse_domain
from vas_affinity.machine.reading.procfs import processes
from vas_core.errors import BadInput
from vas_core.root import Root
from vas_core.shown import shown

_LOG = "/dev/log"
_WARNING, _NOTICE = 28, 29  # <sys/syslog.h>: LOG_DAEMON with LOG_WARNING, LOG_NOTICE
_MOST_BYTES = 4 << 20
_MOST_LETTERS = 2000


@click.command()
@click.argument("guest")
@click.option(
    "--plan",
    type=click.Path(path_type=Path),
    default=Path("/etc/vas/placement.json"),
    show_default=True,
    help="Plan of the administrator.",
)
@click.option(
    "--kept",
    type=click.Path(path_type=Path),
    default=Path("/var/lib/vas/affinity"),
    show_default=True,
    help="Directory that keeps the daemon's last good plan.",
)
@host_options
def hook(given: HostOptions, guest: str, plan: Path, kept: Path) -> None:
    """Place a started guest's threads: for libvirt's hook.

    Reads the guest's XML from standard input, finds its QEMU in /proc, and never asks libvirt,
    which waits for its hook. The CPUs come from the first that has some for the guest: the plan in
    force, --plan, the last good plan, a plan by the rule made now, all CPUs without storage
    interrupts. Ends with status 0 whatever happens; the log has a line, and vas-affinityd's metrics
    the count.

    \b
    Example: vas affinity hook vm1 < vm1.xml
    """
    files = StartFiles(given.state, plan, kept)
    try:
        done = _place(given, guest, files)
        names = [done.chosen.rung.value, *([] if done.is_complete else [INCOMPLETE])]
        words = done.words(guest)
        is_fine = done.is_complete and not done.chosen.refused
    except Exception as wrong:
        names, words, is_fine = [StartRung.NOTHING.value], f"{guest}: nothing: {wrong}", False
    _log(words, _NOTICE if is_fine else _WARNING)
    with suppress(OSError):
        count(given.starts, *names)


def _place(given: HostOptions, guest: str, files: StartFiles) -> GuestStarted:
    xml = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(xml) > _MOST_BYTES:
        raise BadInput(f"is longer than {_MOST_BYTES} bytes", where="the guest's XML")
    domain = parse_domain(xml, running=True, where="the guest's XML")
    if domain.name != guest:
        raise BadInput(f"is of {domain.name}", where="the guest's XML")
    root = Root()
    ladder = Ladder(files, given.name, domain, tuple(processes(TreeFiles(root))), root)
    return place(ladder, given.host_of_starts)


def _log(words: str, priority: int) -> None:
    """Sends a line to the system's log, without waiting for it; prints it on stderr too."""
    line = shown(words)[:_MOST_LETTERS]
    click.echo(line, err=True)
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.setblocking(False)
        log.sendto(f"<{priority}>vas-affinity-hook: {line}".encode(), _LOG)
