"""Turns in a lab and on a site, with a lab, cgroups, a guest and fio that only take notes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from vas_bench.engine.play import Progress
from vas_bench.engine.rounds import Round
from vas_bench.interference import lab_stage, site_target
from vas_bench.interference.lab_stage import LabStage
from vas_bench.interference.rounds import InterferenceSubject, identity, patterns_of, play
from vas_bench.interference.scope import LAB, PATTERN_NAMES, PATTERNS
from vas_bench.interference.site_target import SiteStage, refuse_node
from vas_bench.interference.target import InterferenceRequest
from vas_bench.results.systems import ARM_OF
from vas_cluster import parse_cluster
from vas_core.cli import run_command
from vas_core.errors import BadInput, NotHere, VasError
from vas_core.process import Completed
from vas_core.progress import Step, Steps
from vas_core.root import Root
from vas_lab.sites import lab_site_yaml
from vas_yarn.jobs.events import Event
from vas_yarn.jobs.place import OnEvent
from vas_yarn.jobs.systems import Arm

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

    # The site's nodes
    def drop_caches(self, *, servers: bool) -> None:
        self.done.append("drop all" if servers else "drop the guests'")

    # fio
    def fio(self, argv: list[str], *, timeout_seconds: float) -> Completed:
        assert timeout_seconds > 100
        at = argv.index("fio")
        where = " ".join(argv[:at])
        kind = next(word for word in argv if word.startswith("--rw="))
        timed = "--time_based" in argv
        what = f"{'measure' if timed else 'once'} {kind.removeprefix('--rw=')}"
        direct = " past the cache" if "--direct=1" in argv else ""
        self.done.append(f"{where}: {what}{direct}".removeprefix(": "))
        if timed and self.failing in kind:
            raise VasError("fio failed")
        amount = {"io_bytes": 10, "bw_bytes": 10, "runtime": 1}
        job = {"jobname": "client", "error": 0, "read": amount, "write": amount}
        return Completed(tuple(argv), 0, json.dumps({"jobs": [job]}), "")

    # The job
    def generate(self) -> None: ...

    def call(self, argv: list[str]) -> None:
        assert argv[:2] == ["mkdir", "-p"]

    def run(self, arm: Arm, *, on_event: OnEvent) -> Any:
        on_event(Event(kind="progress", text="application_1_1: map 0 %, reduce 0 %"))
        return SimpleNamespace(seconds=3.0)

    def discard(self, arm: Arm) -> None:
        pass


class NotedGuest:
    """A guest, in a host of its own."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self.groups = SimpleNamespace(entering=lambda group, argv: [f"other-{group}", *argv])

    @contextmanager
    def at_work(self) -> Iterator[list[float]]:
        self._notes.done.append("go on")
        yield [70.0]
        self._notes.done.append("pause")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Notes:
    found = Notes(tmp_path)
    monkeypatch.setattr(lab_stage, "run", found.fio)
    monkeypatch.setattr(site_target, "run", found.fio)
    monkeypatch.setattr(
        lab_stage, "outside", lambda _root, above, inside: [above * 100 + pid for pid in inside]
    )
    found.failing = "none"
    return found


def of_both(notes: Notes, directory: str) -> dict[str, Any]:
    job = {"job": notes, "system": ARM_OF["vas"], "give_up": notes.stop}
    return {"place": notes, "directory": directory, "files_bytes": 64 << 20, **job}


def lab(notes: Notes) -> LabStage:
    fakes: Any = notes
    guest: Any = NotedGuest(notes)
    return LabStage(**of_both(notes, "/interference"), groups=fakes, root=notes.root, guest=guest)


def site(notes: Notes, drops: Any = "none") -> SiteStage:
    both = of_both(notes, "/user/ann/vas-interference")
    return SiteStage(**both, nodes=both["place"], drops=drops)


REQUEST = InterferenceRequest(seconds=5, size=1 << 20, system="vas")


def a_round(arm: Any, number: int = 1) -> Round[InterferenceSubject]:
    return Round(identity(arm, REQUEST, {}), number, False)


def patterns(arm: Any) -> list[str]:
    """Returns the names of the patterns that fio measures in a round of an arm, in order."""
    words = {pattern.name: pattern.rw for pattern in PATTERNS}
    return [f"measure {words[name]}" for name in patterns_of(a_round(arm), SEED)]


SEED = 1
RATES = {f"throughput_bytes_per_second/{name}": 10.0 for name in PATTERN_NAMES}


@pytest.mark.parametrize(
    ("arm", "group"), [("alone", "server"), ("host", "server"), ("guest", "guest")]
)
def test_a_labs_turn_from_an_empty_cache_on(notes: Notes, arm: str, group: str) -> None:
    played = play(lab(notes), a_round(arm), seconds=5, seed=SEED)
    told = [f"server inside: {each}" for each in ("once read", *patterns(arm))]
    assert notes.done == [f"move [7705, 7706] to {group}", *told]
    assert notes.root.read("proc/sys/vm/drop_caches") == "1"
    assert played.measures.items() >= RATES.items()
    assert (len(played.measures) > len(RATES)) == (arm != "alone")


def test_the_guest_is_at_work_in_its_own_turn_only_and_in_its_own_host(notes: Notes) -> None:
    stage = lab(notes)
    played = play(stage, a_round("emulated"), seconds=5, seed=SEED)
    told = [f"other-server inside: {each}" for each in patterns("emulated")]
    once = "other-server inside: once read"
    assert notes.done == ["move [7705, 7706] to server", once, "go on", *told, "pause"]
    assert played.measures == RATES | {"beside_job_seconds/1": 70.0}
    notes.done.clear()
    play(stage, a_round("host"), seconds=5, seed=SEED)
    assert "go on" not in notes.done


def test_a_client_that_fails_ends_the_lab_with_its_job(notes: Notes) -> None:
    notes.failing = "randread"
    with pytest.raises(VasError, match="fio failed"):
        play(lab(notes), a_round("host"), seconds=5, seed=SEED)
    assert notes.done[-2:] == ["server inside: measure randread", "stop"]


def test_without_the_right_to_empty_the_cache_it_is_not_here(notes: Notes) -> None:
    notes.root.path("proc/sys/vm/drop_caches").mkdir()
    with pytest.raises(NotHere, match="run as root"):
        play(lab(notes), a_round("host"), seconds=5, seed=SEED)


@pytest.mark.parametrize(
    ("drops", "dropped"),
    [("none", []), ("guests", ["drop the guests'"]), ("all", ["drop all"])],
)
def test_a_sites_client_reads_past_its_cache_and_servers_keep_theirs(
    notes: Notes, drops: str, dropped: list[str]
) -> None:
    stage = site(notes, drops)
    stage.prepare()
    played = play(stage, a_round("guest"), seconds=5, seed=SEED)
    told = [f"{each} past the cache" for each in ("once read", *patterns("guest"))]
    assert notes.done == ["once write past the cache", *dropped, *told]
    assert stage.clients.directory == "/run/lustre/user/ann/vas-interference/clients"
    beside = {name: each for name, each in played.measures.items() if name not in RATES}
    assert beside["beside_job_seconds/1"] == 3.0 and set(beside.values()) == {3.0}
    assert play(stage, a_round("alone"), seconds=5, seed=SEED).measures == RATES


def test_a_sites_client_that_fails_gives_the_job_up(notes: Notes) -> None:
    notes.failing = "read"
    with pytest.raises(VasError, match="fio failed"):
        play(site(notes), a_round("guest"), seconds=5, seed=SEED)
    assert notes.done[-1] == "stop"


@pytest.mark.parametrize("name", ["oss1", "vm2"])
def test_a_server_and_a_guest_are_no_clients(name: str) -> None:
    cluster = parse_cluster(lab_site_yaml(2), Path("cluster.yaml"))
    refuse_node(cluster, "login")
    with pytest.raises(BadInput, match="is a server or a guest"):
        refuse_node(cluster, name)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cluster", "{map}", "--hosts", "4"], "--hosts: is for a lab"),
        (["--cluster", "{map}", "--guest-image", "/image"], "--guest-image: is for a lab"),
        (["--kvm"], "give --guest-image too"),
        (["--reach", "ssh {{node}}"], "name its map: --cluster FILE"),
        (["--cluster", "{map}", "--may-drop-caches", "all"], "say by --reach how to get onto"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(lab_site_yaml(2))
    argv = [word.format(map=file) for word in words]
    assert run_command(["bench", "interference", "--dry-run", *argv]) == 2
    assert said in capsys.readouterr().err


class NotedTarget:
    """A target whose stages are a lab's that takes notes; `played` fails at a round's number."""

    def __init__(self, notes: Notes, request: InterferenceRequest) -> None:
        self.notes, self.request, self.opened_times, self.breaks = notes, request, 0, 0
        self.scope = LAB

    def settings(self) -> dict[str, Any]:
        return {"versions": {"vas": "1"}, "hosts": 2}

    def environment(self) -> dict[str, Any]:
        return {"kernel": "6.1"}

    def words(self) -> str:
        return "a made-up host"

    def facts(self) -> dict[str, object]:
        return {}

    def steps(self) -> list[Step]:
        return [Step("start", 1.0)]

    def check(self) -> None: ...

    def progress(self, steps: list[Step]) -> Any:
        return Steps.show(steps, self.notes.root.path("learned.json"))

    @contextmanager
    def opened(self, progress: Progress) -> Iterator[LabStage]:
        self.opened_times += 1
        # The first stage is broken from a call of fio on, if that is said.
        self.notes.failing = "randread" if self.opened_times <= self.breaks else "none"
        with progress.step("start"):
            pass
        yield lab(self.notes)
        self.notes.done.append("closed")


@pytest.fixture
def target(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> NotedTarget:
    found = NotedTarget(notes, REQUEST)
    monkeypatch.setattr("vas_bench.interference.command._target", lambda *_: found)
    return found


def interference(*words: str) -> int:
    small = ("--rounds", "2", "--warm-up", "0", "--seconds", "5", "--size", "1M", "--json")
    return run_command(["bench", "interference", *small, *words])


@pytest.mark.unhurried
def test_what_is_in_the_file_is_not_measured_again(
    target: NotedTarget, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runs.jsonl"
    assert interference("--resume", str(file)) == 0
    first = json.loads(capsys.readouterr().out)
    assert len(first["turns"]) == 6
    measured = len(target.notes.done)
    assert interference("--resume", str(file)) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert len(target.notes.done) == measured
    assert interference("--resume", str(file), "--seed", "2") == 2
    assert "its runs had another seed" in capsys.readouterr().err


def test_a_run_that_fails_is_invalid_and_the_next_has_a_new_stage(
    target: NotedTarget, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runs.jsonl"
    target.breaks = 1
    assert interference("--resume", str(file)) == 1
    out, err = capsys.readouterr()
    assert len(json.loads(out)["turns"]) == 5
    assert "1 run is INVALID; it failed: fio failed" in err
    assert target.opened_times == target.notes.done.count("closed") == 2
    assert interference("--resume", str(file)) == 0
    assert len(json.loads(capsys.readouterr().out)["turns"]) == 6


def test_a_budget_begins_no_run_that_it_would_cut_off(
    target: NotedTarget, capsys: pytest.CaptureFixture[str]
) -> None:
    assert interference("--budget", "1s") == 1
    assert "the budget ended with 6 runs left" in capsys.readouterr().err
    assert target.opened_times == 0
