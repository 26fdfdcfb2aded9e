"""A turn, with a lab, cgroups and fio that only take notes."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from vas_bench.interference.site import Site

from vas_bench.arms.systems import ARM_OF
from vas_bench.interference import site as site_module
from vas_bench.interference.patterns import PATTERN_NAMES
from vas_bench.interference.sizes import Sizes
from vas_bench.interference.turns import Turn
from vas_core.errors import NotHere, VasError
from vas_core.process import Completed
from vas_core.root import Root
from vas_lab.arms import Arm
from vas_lab.events import Event
from vas_lab.place import OnEvent

SIZES = Sizes(host_bytes=4 << 30, guest_bytes=3 << 30, files_bytes=64 << 20, guest_cpus=1)
NODE_MANAGERS = {"nodemanager-vm1": 5, "nodemanager-vm2": 6}


class Notes:
    """What was done, in order; and the things that do it."""

    def __init__(self, root: Path) -> None:
        self.done: list[str] = []
        self.root = Root(root)
        self.failing = ""
        (root / "proc/sys/vm").mkdir(parents=True)

    # The lab
    running = SimpleNamespace(supervisor=77)
    spec = SimpleNamespace(
        cluster=SimpleNamespace(
            lustre=SimpleNamespace(mount="/run/lustre"),
            guests=lambda: [SimpleNamespace(name=name) for name in ("vm1", "vm2")],
        )
    )

    def ask(self, _: object) -> Any:
        pids = {**NODE_MANAGERS, "resourcemanager": 4, "mds": 3}
        return SimpleNamespace(
            daemons=[SimpleNamespace(name=name, pid=pid) for name, pid in pids.items()]
        )

    def enter(self, argv: list[str]) -> list[str]:
        return ["inside", *argv]

    def stop(self) -> None:
        self.done.append("stop")

    # The cgroups
    def move(self, group: str, processes: list[int]) -> None:
        self.done.append(f"move {processes} to {group}")

    def entering(self, group: str, argv: list[str]) -> list[str]:
        return [group, *argv]

    # fio
    def fio(self, argv: list[str], *, timeout_seconds: float) -> Completed:
        group, place, program = argv[:3]
        assert (group, place, program) == ("server", "inside", "fio")
        kind = next(word for word in argv if word.startswith("--rw="))
        timed = "--time_based" in argv
        self.done.append(f"{'measure' if timed else 'once'} {kind.removeprefix('--rw=')}")
        if timed and self.failing in kind:
            raise VasError("fio failed")
        amount = {"io_bytes": 10, "bw_bytes": 10, "runtime": 1}
        job = {"jobname": "client", "error": 0, "read": amount, "write": amount}
        return Completed(tuple(argv), 0, json.dumps({"jobs": [job]}), "")

    # The job
    def run(self, arm: Arm, *, on_event: OnEvent) -> Any:
        on_event(Event(kind="progress", text="application_1_1: map 0 %, reduce 0 %"))
        return SimpleNamespace(seconds=3.0)

    def discard(self, arm: Arm) -> None:
        pass


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Notes:
    found = Notes(tmp_path)
    monkeypatch.setattr(site_module, "run", found.fio)
    monkeypatch.setattr(
        site_module, "outside", lambda _root, above, inside: [above * 100 + pid for pid in inside]
    )
    found.failing = "none"
    return found


def site(notes: Notes) -> Site:
    fakes: Any = notes
    return Site(fakes, fakes, SIZES, fakes, ARM_OF["vas"], 5, notes.root)


def turn(arm: Any) -> Turn:
    return Turn(arm, 1, False, tuple(reversed(PATTERN_NAMES)))


@pytest.mark.parametrize(
    ("arm", "group"), [("alone", "server"), ("host", "server"), ("guest", "guest")]
)
def test_a_turn_from_an_empty_cache_on(notes: Notes, arm: str, group: str) -> None:
    played = site(notes).play(turn(arm))
    assert notes.done == [
        f"move [7705, 7706] to {group}",
        "once read",
        "measure randwrite",
        "measure write",
        "measure randread",
        "measure read",
    ]
    assert notes.root.read("proc/sys/vm/drop_caches") == "1"
    assert played.bytes_per_second == dict.fromkeys(PATTERN_NAMES, 10.0)
    assert (len(played.job_seconds) > 0) == (arm != "alone")


def test_a_client_that_fails_ends_the_lab_with_its_job(notes: Notes) -> None:
    notes.failing = "randread"
    with pytest.raises(VasError, match="fio failed"):
        site(notes).play(turn("host"))
    assert notes.done[-2:] == ["measure randread", "stop"]


def test_without_the_right_to_empty_the_cache_it_is_not_here(notes: Notes) -> None:
    notes.root.path("proc/sys/vm/drop_caches").mkdir()
    with pytest.raises(NotHere, match="run as root"):
        site(notes).play(turn("host"))
