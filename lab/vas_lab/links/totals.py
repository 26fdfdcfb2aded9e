"""Asks the links of a lab what crossed them: `python -m vas_lab.links.totals [--drop]`, inside."""

from __future__ import annotations

import json
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import VasError
from vas_lab.inside.mounts import RUN_LUSTRE

CONTROL = "links.sock"
CACHE_BYTES = 256 << 20
_READY_SECONDS = 20.0


@dataclass(frozen=True)
class LinkTotals:
    """Bytes of files that a client read from a server, and wrote to it, by the lab's network."""

    client: str
    server: str
    read: int
    written: int


def links_argv(cluster_file: Path, state_dir: Path) -> tuple[str, ...]:
    """Returns the command line of the daemon: `state_dir` is that of the stand-in for Lustre."""
    words = ("--cluster", str(cluster_file), "--state", str(state_dir))
    run = (sys.executable, "-P", "-m", "vas_lab.links")
    return (*run, *words, "--cache-bytes", str(CACHE_BYTES))


def parse_totals(text: str) -> list[LinkTotals]:
    """Returns the totals that the daemon printed."""
    return [LinkTotals(**row) for row in json.loads(text)]


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


def main() -> None:
    """Prints the totals of the lab that this runs in."""
    try:
        print(ask(RUN_LUSTRE, "drop" if "--drop" in sys.argv else "totals"), end="")
    except OSError as wrong:
        sys.exit(f"no links answer: {wrong}")


if __name__ == "__main__":
    main()
