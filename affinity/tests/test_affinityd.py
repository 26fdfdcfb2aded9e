"""`vas-affinityd` as a process, with processes that it places."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vas_affinity.apply.local_host import LocalHost
from vas_affinity.apply.thread import key_of, started
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_core.journal import Journal
from vas_core.polling import poll
from vas_core.process import run
from vas_core.root import Root

CPUS = tuple(sorted(os.sched_getaffinity(0)))
SECONDS = 60.0
pytestmark = [
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.skipif(len(CPUS) < 2, reason="one CPU: nothing can be moved"),
]


@pytest.fixture
def worker() -> Iterator[int]:
    """A process to be placed; its id."""
    process = subprocess.Popen(["sleep", "600"])
    yield process.pid
    process.kill()
    process.wait()


class Daemon:
    """The files and the process of one."""

    def __init__(self, directory: Path) -> None:
        self.plan, self.config = directory / "plan.json", directory / "affinity.yaml"
        self.state, self._log = directory / "state", directory / "log"
        self.metric, self.kept = directory / "metric", directory / "kept"
        self._told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._told.bind(str(directory / "notify"))
        self._told.settimeout(SECONDS)
        self.process: subprocess.Popen[bytes] | None = None

    def settings(self, **words: Any) -> None:
        self.config.write_text(json.dumps(words))

    def place(self, tid: int, cpu: int, key: str = "a/b/0") -> None:
        start = started(Root(), tid)
        pin = Pin(
            target=PinTarget.THREAD, name=key, cpus=(cpu,), reason="test", tid=tid, start=start
        )
        new = self.plan.with_suffix(".new")
        new.write_text(HostPlacement(host="here", pins=(pin,)).model_dump_json())
        new.rename(self.plan)

    def measure(self, value: int) -> None:
        """Writes what the valve reads, at once: it may look at any moment."""
        new = self.metric.with_suffix(".new")
        new.write_text(f"{value}\n")
        new.rename(self.metric)

    def start(self, *before: str, program: tuple[str, ...] = ("-m", "vas_core")) -> None:
        argv = [sys.executable, *program, "affinity", "daemon", str(self.plan)]
        argv += ["--host", "here", "--state", str(self.state), "--config", str(self.config)]
        argv += ["--kept", str(self.kept)]
        address = self._told.getsockname()
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [*before, *argv, "--metrics", "off"],
                stderr=log,
                env={**os.environ, "NOTIFY_SOCKET": address},
            )
        self.told(b"READY=1")

    def told(self, wanted: bytes) -> None:
        """Waits for a word to the service manager."""
        while wanted not in self._told.recv(4096):
            pass

    def end(self, number: int = signal.SIGTERM) -> int:
        assert self.process
        self.process.send_signal(number)
        return self.process.wait(SECONDS)

    def close(self) -> None:
        if self.process and self.process.poll() is None:
            self.end(signal.SIGKILL)
        self._told.close()

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def wait_for(self, message: str, count: int = 1) -> dict[str, Any]:
        """The event of that name, once there are so many."""

        def look() -> list[dict[str, Any]]:
            return [event for event in self.events() if event["message"] == message]

        return poll(look, lambda seen: len(seen) >= count, SECONDS, f"{count} {message}")[-1]


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    found = Daemon(tmp_path)
    found.settings(check_seconds=0.2, repairs=1000)
    yield found
    found.close()


def runs_on(tid: int, *cpus: int) -> None:
    """Waits until a thread may run there."""
    look: Callable[[], set[int]] = lambda: os.sched_getaffinity(tid)  # noqa: E731
    poll(look, lambda seen: seen == set(cpus), SECONDS, f"thread {tid} on {cpus}")


def test_a_plan_is_kept_true_until_its_end_and_after(daemon: Daemon, worker: int) -> None:
    daemon.place(worker, CPUS[1])
    daemon.start()
    runs_on(worker, CPUS[1])
    daemon.wait_for("move")
    os.sched_setaffinity(worker, {CPUS[0]})
    runs_on(worker, CPUS[1])
    assert daemon.wait_for("repair")["values"] == 1
    daemon.told(b"WATCHDOG=1")
    assert daemon.end() == 0
    runs_on(worker, CPUS[1])
    LocalHost(daemon.state).rollback()
    runs_on(worker, *CPUS)


def test_a_plan_that_changed_is_taken_and_a_bad_one_is_not(daemon: Daemon, worker: int) -> None:
    daemon.place(worker, CPUS[1])
    daemon.start()
    runs_on(worker, CPUS[1])
    daemon.place(worker, CPUS[0])
    runs_on(worker, CPUS[0])
    daemon.plan.write_text("{")
    assert "is not a plan" in daemon.wait_for("the plan is not taken; the old one holds")["what"]
    os.sched_setaffinity(worker, {CPUS[1]})
    runs_on(worker, CPUS[0])
    daemon.place(worker, CPUS[1])
    runs_on(worker, CPUS[1])


@pytest.mark.parametrize("way", ["connector", "scan"])
def test_a_new_thread_is_placed_before_the_next_check(
    daemon: Daemon, way: str, tmp_path: Path
) -> None:
    """The daemon looks at its plan every five minutes here; the new process cannot wait for that.

    What was placed between two checks is part of the plan in force: it is kept, and rolled back.
    """
    daemon.settings(check_seconds=300, new_threads=way)
    program = tmp_path / f"vas-{os.getpid()}"
    shutil.copy(shutil.which("sleep") or "", program)
    first = subprocess.Popen([program, "600"])
    daemon.place(first.pid, CPUS[1], key=f"{program.name}/{program.name}/0")
    daemon.start()
    runs_on(first.pid, CPUS[1])
    first.kill()
    first.wait()
    second = subprocess.Popen([program, "600"])

    def look() -> set[int]:
        daemon.told(b"WATCHDOG=1")  # or the daemon soon waits for somebody to listen
        return os.sched_getaffinity(second.pid)

    poll(look, lambda seen: seen == {CPUS[1]}, SECONDS, "the new process")
    key = key_of(second.pid, started(Root(), second.pid))
    journal = LocalHost(daemon.state).journal
    done = lambda: {e.target for e in Journal.peek(journal) if e.confirmed}  # noqa: E731
    poll(done, lambda seen: key in seen, SECONDS, "the end of the placing")
    os.sched_setaffinity(second.pid, {CPUS[0]})
    daemon.settings(check_seconds=0.2, new_threads="none")
    runs_on(second.pid, CPUS[1])
    assert daemon.wait_for("repair")["values"] == 1
    daemon.end()
    LocalHost(daemon.state).rollback()
    runs_on(second.pid, *CPUS)
    second.kill()
    second.wait()


def test_a_restart_moves_nothing(daemon: Daemon, worker: int) -> None:
    daemon.place(worker, CPUS[1])
    daemon.start()
    runs_on(worker, CPUS[1])
    daemon.wait_for("move")
    daemon.end(signal.SIGKILL)
    daemon.start()
    daemon.wait_for("wait")
    daemon.end()
    assert [event["message"] for event in daemon.events()].count("move") == 1


def valve(daemon: Daemon, **words: Any) -> None:
    daemon.measure(100)
    source = {"file": str(daemon.metric), "better": "higher", "samples": 2, **words}
    daemon.settings(check_seconds=0.2, valve=source)


def test_a_move_that_hurts_the_service_is_taken_back(daemon: Daemon, worker: int) -> None:
    valve(daemon, window_seconds=600)
    daemon.place(worker, CPUS[1])
    daemon.start()
    runs_on(worker, CPUS[1])
    daemon.measure(50)
    runs_on(worker, *CPUS)
    assert daemon.wait_for("revert")["why"].startswith("the metric went from 100 to ")
    poll(
        lambda: daemon.events()[-1].get("why"), lambda why: why == "held off", SECONDS, "a hold-off"
    )
    assert os.sched_getaffinity(worker) == set(CPUS)


def test_a_trial_outlives_the_daemon(daemon: Daemon, worker: int) -> None:
    valve(daemon, window_seconds=600)
    daemon.place(worker, CPUS[1])
    daemon.start()
    runs_on(worker, CPUS[1])
    daemon.wait_for("move")
    daemon.end(signal.SIGKILL)
    daemon.measure(50)
    assert os.sched_getaffinity(worker) == {CPUS[1]}
    daemon.start()
    runs_on(worker, *CPUS)
    daemon.end()
    daemon.start()
    assert daemon.wait_for("wait", count=len(_waits(daemon)) + 1)["why"] == "held off"


def _waits(daemon: Daemon) -> list[dict[str, Any]]:
    return [event for event in daemon.events() if event["message"] == "wait"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a network namespace")
@pytest.mark.skipif(shutil.which("nsenter") is None, reason="no nsenter (package util-linux)")
def test_a_link_that_comes_up_is_a_reason_to_look_at_once(daemon: Daemon, worker: int) -> None:
    daemon.settings(check_seconds=300)
    daemon.place(worker, CPUS[1])
    daemon.start("unshare", "--net")
    runs_on(worker, CPUS[1])
    daemon.wait_for("move")
    os.sched_setaffinity(worker, {CPUS[0]})
    assert daemon.process
    into = ("nsenter", f"--target={daemon.process.pid}", "--net")
    run([*into, "ip", "link", "set", "lo", "up"])
    runs_on(worker, CPUS[1])
    daemon.wait_for("repair")


def test_what_it_cannot_read_at_its_start_is_one_line(
    daemon: Daemon, capfd: pytest.CaptureFixture[str]
) -> None:
    argv = [sys.executable, "-m", "vas_core", "affinity", "daemon", str(daemon.plan)]
    assert run([*argv, "--metrics", "off"], check=False).status == 2


def refused(daemon: Daemon) -> dict[str, Any]:
    return daemon.wait_for("the plan is not taken; the old one holds")


@pytest.mark.parametrize("text", ["{", None], ids=["bad", "gone"])
def test_H7_a_restart_with_a_bad_plan_goes_on_with_the_last_good_one(
    daemon: Daemon, worker: int, text: str | None
) -> None:
    daemon.place(worker, CPUS[1])
    daemon.start()
    runs_on(worker, CPUS[1])
    if text is None:
        daemon.plan.unlink()
    else:
        daemon.plan.write_text(text)
    refused(daemon)
    daemon.end(signal.SIGKILL)
    shutil.rmtree(daemon.state)  # as a reboot does
    os.sched_setaffinity(worker, {CPUS[0]})
    daemon.start()
    runs_on(worker, CPUS[1])
    assert stat.S_IMODE((daemon.kept / "last-good.json").stat().st_mode) == 0o600
    daemon.place(worker, CPUS[0])
    runs_on(worker, CPUS[0])


RAISES = """
import sys
from vas_affinity.daemon import daemon as command
read = command.read_plan
def sometimes(file, host):
    if "strange" in file.read_text():
        raise RuntimeError("a bug in a reader")
    return read(file, host)
command.read_plan = sometimes
from vas_core.cli import main
main(sys.argv[1:])
"""


def test_H7_a_reading_that_fails_in_any_way_ends_no_daemon(daemon: Daemon, worker: int) -> None:
    daemon.place(worker, CPUS[1])
    daemon.start(program=("-c", RAISES))
    runs_on(worker, CPUS[1])
    strange = daemon.plan.with_suffix(".new")
    strange.write_text("strange")
    strange.replace(daemon.plan)  # at once: half a file would be refused as such
    assert refused(daemon)["what"] == "RuntimeError: a bug in a reader"
    os.sched_setaffinity(worker, {CPUS[0]})
    runs_on(worker, CPUS[1])


def test_without_a_place_for_its_journal_it_ends_at_once(tmp_path: Path) -> None:
    plan, state = tmp_path / "plan.json", tmp_path / "state"
    plan.write_text(HostPlacement(host="here").model_dump_json())
    state.mkdir(mode=0o500)
    argv = [sys.executable, "-m", "vas_core", "affinity", "daemon", str(plan), "--host", "here"]
    argv += ["--state", str(state), "--metrics", "off"]
    # Without CAP_DAC_OVERRIDE root, too, may write only where the mode says so.
    kept = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all"]
    done = run([*(kept if os.geteuid() == 0 else []), *argv], check=False, timeout_seconds=SECONDS)
    assert done.status == 1
    assert done.stderr.splitlines() == [
        f"vas: {state}: Permission denied: nothing could be restored; run as root, or give --state"
    ]
