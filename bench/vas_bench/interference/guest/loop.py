"""Runs in the guest: TeraSort, again and again. Needs the standard library alone.

It reports each step in a line of JSON on a virtio port. A unit that the seed brings starts it; the
words of its jobs are a file of the seed's too.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import IO, Any

PORT = "/dev/virtio-ports/vas.work"
JOBS = "/run/vas-jobs.json"
_MAPS = re.compile(r"map \d+% reduce \d+%")
_EXCERPT_LINES = 20


def run(argv: list[str], port: IO[str]) -> float:
    """Runs a job, reports when its maps run, and returns its seconds.

    Raises SystemExit with the end of its output if it fails.
    """
    started, lines, runs = time.monotonic(), list[str](), False
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as job:
        assert job.stdout is not None
        for line in job.stdout:
            lines = [*lines, line.rstrip()][-_EXCERPT_LINES:]
            if not runs and _MAPS.search(line):
                runs = True
                say(port, at="maps")
    if job.returncode:
        raise SystemExit("\n".join(lines))
    return time.monotonic() - started


def say(port: IO[str], **what: Any) -> None:
    """Writes one line of JSON to the port."""
    port.write(json.dumps(what) + "\n")
    port.flush()


def main() -> None:
    """Makes the data, and sorts them until the machine is turned off."""
    told = json.loads(Path(JOBS).read_text())
    with Path(PORT).open("w") as port:
        try:
            say(port, at="up", seconds=time.monotonic())
            say(port, at="made", seconds=run(told["generate"], port))
            while True:
                say(port, at="ended", seconds=run(told["sort"], port))
                shutil.rmtree(told["output"])
        except (Exception, SystemExit) as wrong:  # the host must hear of it
            say(port, at="failed", why=str(wrong))


if __name__ == "__main__":
    main()
