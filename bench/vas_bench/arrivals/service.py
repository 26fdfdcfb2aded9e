"""A service that starts threads at intervals, and other work that starts processes.

Runs as a program of its own, in which nothing of VAS is imported: `service.py service NAME PERIOD
COUNT LIVES CPU` or `service.py work FORKS EXECS`. Either ends when its standard input does.
"""

from __future__ import annotations

import ctypes
import os
import select
import sys
import threading
import time

_LOOK_SECONDS = 0.002
_PR_SET_NAME = 15


def _name(name: str) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode())


def _thread(name: str, lives: float, cpu: int, told: threading.Semaphore) -> None:
    """Names itself, prints the milliseconds until it is on its CPU (`-`: never), and lives on."""
    _name(name)
    born = time.monotonic()
    while (late := time.monotonic() - born) < lives:
        if os.sched_getaffinity(0) == {cpu}:
            break
        time.sleep(_LOOK_SECONDS)
    os.write(1, b"%.1f\n" % (late * 1e3) if late < lives else b"-\n")
    told.release()
    time.sleep(max(0.0, lives - late))


def _has_ended(until: float) -> bool:
    """Waits until a time; returns whether the standard input ended before it."""
    left = max(0.0, until - time.monotonic())
    return bool(select.select([0], [], [], left)[0]) and not os.read(0, 1)


def service(name: str, period: float, count: int, lives: float, cpu: int) -> None:
    """Starts `count` threads named `worker`, one each `period` seconds after a line of input.

    Ends the process when the last of them has printed its line.
    """
    _name(name)
    os.write(1, b"ready\n")
    os.read(0, 1)
    began, told = time.monotonic(), threading.Semaphore(0)
    for number in range(count):
        if _has_ended(began + number * period):
            break
        words = ("worker", lives, cpu, told)
        threading.Thread(target=_thread, args=words, daemon=True).start()
    else:
        for _ in range(count):
            told.acquire()
    os._exit(0)


def work(forks: float, execs: float) -> None:
    """Starts processes, so many a second of which so many run another program."""
    period, share, owed = 1 / (forks + execs), execs / (forks + execs), 0.0
    at = time.monotonic()
    while not _has_ended(at):
        at = max(at + period, time.monotonic() - 1.0)
        owed += share
        pid = os.fork()
        if pid == 0:
            if owed >= 1:
                os.execv("/bin/true", ["true"])  # noqa: S606
            os._exit(0)
        owed -= owed >= 1
        os.waitpid(pid, 0)


if __name__ == "__main__":
    what, *words = sys.argv[1:]
    if what == "service":
        service(words[0], float(words[1]), int(words[2]), float(words[3]), int(words[4]))
    else:
        work(float(words[0]), float(words[1]))
