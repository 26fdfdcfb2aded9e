"""Builds the command lines of iperf3, and reads its JSON. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from vas_core.errors import VasError
from vas_core.process import Completed

PROGRAM = "iperf3"
_WARM_UP_SECONDS = 1


def server(address: str, pid_file: Path | None = None) -> list[str]:
    """Returns the command line of an iperf3 server on one address; it writes its process id to
    `pid_file`."""
    told = ["--pidfile", str(pid_file)] if pid_file else []
    return [PROGRAM, "--server", "--bind", address, *told]


def client(address: str, seconds: int, *, back: bool) -> list[str]:
    """Returns the command line of an iperf3 client: one TCP stream to a server, or `back` from it.

    It prints JSON, and leaves a warm-up before the measured `seconds` out.
    """
    times = ["--omit", str(_WARM_UP_SECONDS), "--time", str(seconds), "--interval", "0"]
    way = ["--reverse"] if back else []
    return [PROGRAM, "--json", "--client", address, *times, *way]


def limit_seconds(seconds: int) -> float:
    """Returns after how many seconds a client that measures for `seconds` counts as hanging."""
    return _WARM_UP_SECONDS + seconds + 20.0


def received_gbps(done: Completed, destination: str) -> float:
    """Returns the receiver's speed in Gbit/s of payload; 0 if no data came at all.

    Raises VasError if it is not in iperf3's output.
    """
    try:
        document = json.loads(done.stdout)
    except ValueError:
        document = {"error": _said(done)}
    # It ends with status 0 although it could not connect (iperf 3.12).
    wrong = document.get("error")
    try:
        bits = float(document["end"]["sum_received"]["bits_per_second"])
    except (KeyError, TypeError, ValueError):
        bits, wrong = 0.0, wrong or "its output does not have the received bytes"
    if wrong:
        hint = f"is `vas route calibrate --serve` running on {destination}?"
        raise VasError(f"iperf3: {wrong}", where=destination, hint=hint)
    return bits / 1e9


def _said(done: Completed) -> str:
    lines: Sequence[str] = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit status {done.status}"
