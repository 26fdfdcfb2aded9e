"""Recordings: what /proc says, and what a file keeps of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_affinity.machine.reading.tasks import descendants, parse_stat
from vas_affinity.machine.snapshot import Thread, ThreadRole
from vas_affinity.machine.topology import Cpu, MachineTopology
from vas_affinity.watch.record.recorder import Recorder
from vas_affinity.watch.record.recording import Header, load_recording
from vas_affinity.watch.thread_keys import ThreadKeys, find_processes, label
from vas_core.cli import run_command
from vas_core.errors import BadInput, NotHere
from vas_core.root import Root

CPUS = tuple(Cpu(number=n, package=0, die=0, node=0, l3=0, l2=n, core=n) for n in range(4))
HEADER = Header(
    started=0.0,
    interval_seconds=0.001,
    ticks_per_second=100,
    what=("sort",),
    topology=MachineTopology(name="host", cpus=CPUS),
)


def stat_line(tid: int, name: str, *, ticks: int = 0, cpu: int = 0, start: int = 7) -> str:
    fields = ["0"] * 50
    fields[0], fields[11], fields[19], fields[36] = "S", str(ticks), str(start), str(cpu)
    return f"{tid} ({name}) {' '.join(fields)}"


def add_thread(root: Path, pid: int, tid: int, name: str, **stat: int) -> None:
    task = root / f"proc/{pid}/task/{tid}"
    task.mkdir(parents=True, exist_ok=True)
    (task / "status").write_text("Cpus_allowed_list:\t0-3\n")
    (root / f"proc/{pid}/stat").write_text(stat_line(pid, "sort") + "\n")
    (root / f"proc/{pid}/comm").write_text("sort\n")
    (root / f"proc/{pid}/cmdline").write_text("sort\0--parallel=2\0")
    (task / "stat").write_text(stat_line(tid, name, **stat) + "\n")


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=15),
    st.integers(0, 10**9),
    st.integers(0, 8191),
)
def test_a_name_may_hold_anything(name: str, ticks: int, cpu: int) -> None:
    found = parse_stat(stat_line(12, name, ticks=ticks, cpu=cpu))
    assert (found.tid, found.name, found.ticks, found.cpu) == (12, name, ticks, cpu)


@pytest.mark.parametrize("line", ["", "12 (sort) S 1 2", "12 sort S"])
def test_what_is_no_stat_line_raises(line: str) -> None:
    with pytest.raises(ValueError, match="stat line"):
        parse_stat(line)


def test_processes_are_found_by_number_and_pattern(tmp_path: Path) -> None:
    add_thread(tmp_path, 10, 10, "sort")
    root = Root(tmp_path)
    assert find_processes(root, ["10"]) == [10]
    assert find_processes(root, ["parallel=2$"]) == [10]
    with pytest.raises(NotHere, match="no process matches gzip"):
        find_processes(root, ["gzip"])
    with pytest.raises(BadInput, match="is not a regular expression"):
        find_processes(root, ["("])


def test_descendants_are_found_through_every_thread(tmp_path: Path) -> None:
    for pid, tid, children in ((1, 1, ""), (1, 2, "5 6 "), (5, 5, "7 ")):
        add_thread(tmp_path, pid, tid, "sh")
        (tmp_path / f"proc/{pid}/task/{tid}/children").write_text(children)
    assert descendants(Root(tmp_path), 1) == [1, 5, 6, 7]


def test_a_recording_has_moves_use_and_names(tmp_path: Path) -> None:
    add_thread(tmp_path, 10, 10, "sort", ticks=100, cpu=1)
    add_thread(tmp_path, 10, 11, "sort", ticks=0, cpu=2)
    sched = tmp_path / "proc/10/task/10/sched"
    sched.write_text("se.nr_migrations    :     5\n")
    happens = iter(
        [
            lambda: add_thread(tmp_path, 10, 10, "sort", ticks=130, cpu=3),
            lambda: add_thread(tmp_path, 10, 11, "writer", ticks=20, cpu=2),
            lambda: sched.write_text("se.nr_migrations    :     9\n"),
        ]
    )

    def going_on(_: float) -> bool:
        step = next(happens, None)
        if step:
            step()
        return step is not None

    out = tmp_path / "out.jsonl"
    with out.open("w") as stream:
        end = Recorder(Root(tmp_path), stream, lambda: [10], ThreadKeys.of(Root(tmp_path))).record(
            HEADER, going_on
        )
    found = load_recording(out)
    assert found.end == end
    assert [string.thread.key for string in found.strings] == ["sort/sort/0", "sort/writer/0"]
    assert found.strings[0].cpus[-1] == 3
    assert found.end is not None
    assert found.end.migrations == {0: 4}
    assert found.counted
    assert found.cpu_seconds == pytest.approx(0.2)  # 20 of writer's; sort's 30 were before


def test_use_is_a_share_of_time(tmp_path: Path) -> None:
    found = load_recording(written(tmp_path, [[0.0, 0, 0], [1.0, 1, 50], [2.0, 1, 150]]))
    assert found.use([0.0, 1.0, 2.0]) == [0.5, 1.0]
    assert found.seen_moves == 1
    assert found.moves_per_second == 0.5
    assert not found.counted


def written(directory: Path, samples: list[list[float]], tail: str = "") -> Path:
    """A recording of one thread: (time, CPU, ticks) each."""
    thread = {"thread": 0, "tid": 1, "pid": 1, "key": "a/b/0", "name": "b", "start": 1}
    lines = [HEADER.model_dump(mode="json"), thread]
    lines += [{"t": time, "on": [[0, cpu, ticks]]} for time, cpu, ticks in samples]
    path = directory / "recording.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n" + tail)
    return path


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\x1c"])
def test_a_name_with_a_line_separator_is_read_back(tmp_path: Path, mark: str) -> None:
    add_thread(tmp_path, 5, 5, f"a{mark}b")
    root, out = Root(tmp_path), tmp_path / "out"
    with out.open("w", encoding="utf-8") as stream:
        Recorder(root, stream, lambda: [5], ThreadKeys(root)).record(HEADER, lambda now: now < 0.01)
    assert [s.thread.name for s in load_recording(out).strings] == [f"a{mark}b"]


def test_a_full_name_goes_with_the_name_that_the_kernel_had(tmp_path: Path) -> None:
    add_thread(tmp_path, 5, 5, "short")
    thread = Thread(
        tid=5, pid=5, key="a/short/0", name="a longer name", role=ThreadRole.SERVICE, start=7
    )
    names = ThreadKeys.of(Root(tmp_path), [thread])
    stat = parse_stat(stat_line(5, "short"))
    assert names.full_name(stat) == "a longer name"
    assert label("a/short/0", names.full_name(stat)) == "a/a longer name/0"
    assert names.full_name(parse_stat(stat_line(5, "renamed"))) is None
    assert names.full_name(parse_stat(stat_line(6, "short"))) is None
    assert names.full_name(stat) == "a longer name"
    many = thread.model_copy(update={"name": "x" * 10_000})
    assert len(ThreadKeys.of(Root(tmp_path), [many]).full_name(stat) or "") == 200


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    found = load_recording(written(tmp_path, [[0.0, 0, 0], [1.0, 1, 5]], tail='{"t":2.0,"o'))
    assert found.seconds == 1.0
    assert found.end is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("not JSON\n", "is not a recording; `vas affinity record`"),
        ('{\n "host": "a plan"\n}\n', "is not a recording; `vas affinity record`"),
        ('{"format": "vas-affinity-recording", "version": 1}\nx\ny\n', "is no"),
        ("[1]\n", "1: is not a line of a recording"),
        ('{"format": "other"}\n', "is not a recording"),
        ('{"format": "vas-affinity-recording", "version": 1}\n', "1: is not a line of a recording"),
    ],
)
def test_what_is_no_recording_is_named(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    with pytest.raises(BadInput, match=says):
        load_recording(path)


def test_a_thread_without_a_sample_is_left_out(tmp_path: Path) -> None:
    new = {"thread": 1, "tid": 2, "pid": 1, "key": "a/c/0", "name": "c", "start": 2}
    found = load_recording(written(tmp_path, [[0.0, 0, 0]], tail=json.dumps(new) + "\n"))
    assert [string.thread.key for string in found.strings] == ["a/b/0"]


@pytest.mark.parametrize("time", ["0.5", "NaN", "Infinity"])
def test_time_does_not_go_back(time: str, tmp_path: Path) -> None:
    path = written(tmp_path, [[0.0, 0, 0], [1.0, 0, 0]], tail=f'{{"t": {time}}}\n')
    with pytest.raises(BadInput, match=r"recording.jsonl:5: is not a line"):
        load_recording(path)


def test_a_line_that_is_wrong_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, [[0.0, 0, 0]], tail='{"t": 1.0, "on": [[7, 0, 0]]}\n{"t": 2.0}\n')
    with pytest.raises(BadInput, match=r"recording.jsonl:4: is not a line"):
        load_recording(path)


@pytest.mark.unhurried
@pytest.mark.machine
def test_a_command_is_recorded_and_its_status_kept(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    words = ["record", "--out", str(out), "--interval", "10", "--"]
    busy = "import sys, time\nwhile time.process_time() < 0.3: pass\nsys.exit(5)"
    assert run_command(["affinity", *words, sys.executable, "-c", busy]) == 5
    found = load_recording(out)
    assert 0.2 <= found.cpu_seconds <= 0.6
    assert "process_time" not in out.read_text(), "arguments may hold secrets"


@pytest.mark.machine
def test_process_or_command_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["affinity", "record", "--out", str(tmp_path / "r")]) == 2
    assert "needs either --process or a COMMAND" in capsys.readouterr().err


@pytest.mark.machine
def test_a_command_is_not_started_for_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    began, out = tmp_path / "began", tmp_path / "none" / "recording"
    words = ["affinity", "record", "--out", str(out), "--", "touch", str(began)]
    assert run_command(words) == 1
    assert not began.exists()


@pytest.mark.machine
def test_a_command_that_a_signal_ends_has_the_status_of_a_shell(tmp_path: Path) -> None:
    words = ["affinity", "record", "--out", str(tmp_path / "r"), "--", "sh", "-c", "kill -9 $$"]
    assert run_command(words) == 128 + 9
