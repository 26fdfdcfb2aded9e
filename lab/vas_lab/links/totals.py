"""Asks the links of a lab what crossed them: `python -m vas_lab.links.totals [--drop]`, inside.

With `--every SECONDS` it asks again and again, until its standard input ends.
"""

from __future__ import annotations

import argparse
import json
import select
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import VasError
from vas_lab.inside.mounts import RUN_LUSTRE

CONTROL = "links.sock"
CACHE_BYTES = 256 << 20
_READY_SECONDS = 20.0


@dataclass(frozen=True)
class WireBytes:
    """Bytes of files that a client read from a server, and wrote to it, by the lab's network."""

    client: str
    server: str
    read: int
    written: int


@dataclass(frozen=True)
class LinkWait:
    """How long processes waited for links, in seconds of all threads together, and how often.

    `what` is "read" or "written", and "files" or "map output".
    """

    what: str
    requests: int
    seconds: float


@dataclass(frozen=True)
class LinkTotals:
    """All that crossed the links since the lab began, and the waits for it."""

    wires: tuple[WireBytes, ...] = ()
    waits: tuple[LinkWait, ...] = ()


def links_argv(cluster_file: Path, state_dir: Path) -> tuple[str, ...]:
    """Returns the command line of the daemon: `state_dir` is that of the stand-in for Lustre."""
    words = ("--cluster", str(cluster_file), "--state", str(state_dir))
    run = (sys.executable, "-P", "-m", "vas_lab.links")
    return (*run, *words, "--cache-bytes", str(CACHE_BYTES))


def parse_totals(text: str) -> LinkTotals:
    """Returns the totals that the daemon printed."""
    told = json.loads(text)
    return LinkTotals(
        tuple(WireBytes(**row) for row in told["wires"]),
        tuple(LinkWait(**row) for row in told["waits"]),
    )


def ask(state_dir: Path, word: str) -> str:
    """Asks the daemon: "totals", or "drop" to empty all page caches first; returns JSON.

    Raises OSError if it does not run.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
        stream.connect(str(state_dir / CONTROL))
        stream.sendall(f"{word}\n".encode())
        with stream.makefile() as answer:
            return answer.read()


def wait_linked(state_dir: Path) -> None:
    """Returns when the daemon answers. Raises VasError if it does not within 20 seconds."""
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        try:
            ask(state_dir, "totals")
        except OSError as last:
            if time.monotonic() > deadline:
                what = f"the links do not answer: {last}"
                raise VasError(what, where="links", hint="see links.log") from last
            time.sleep(0.05)
        else:
            return


def main(words: Sequence[str]) -> None:
    """Prints the totals of the lab that this runs in, once or again and again."""
    parser = argparse.ArgumentParser(prog="python -m vas_lab.links.totals", description=__doc__)
    parser.add_argument("--drop", action="store_true", help="empty all page caches first")
    parser.add_argument("--every", type=float, metavar="SECONDS", help="ask again and again")
    options = parser.parse_args(words)
    try:
        print(ask(RUN_LUSTRE, "drop" if options.drop else "totals"), end="", flush=True)
        while options.every and not select.select([sys.stdin], [], [], options.every)[0]:
            print(ask(RUN_LUSTRE, "totals"), end="", flush=True)
    except OSError as wrong:
        sys.exit(f"no links answer: {wrong}")


if __name__ == "__main__":
    main(sys.argv[1:])
