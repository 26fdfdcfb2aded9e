"""The live view's rows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from vas_affinity.machine.reading.tasks import TaskStat
from vas_affinity.machine.topology import Cpu, MachineTopology, Nearness
from vas_affinity.watch.thread_keys import ThreadKeys
from vas_affinity.watch.top.looking import Looking
from vas_affinity.watch.top.rows import Look, nearest_interrupt, rows
from vas_affinity.watch.top.table import cells, frame
from vas_core.cli import run_command
from vas_core.root import Root

TOPOLOGY = MachineTopology(
    name="host",
    cpus=tuple(
        Cpu(number=n, package=n // 4 * 4, die=0, node=n // 4, l3=n // 2 * 2, l2=n, core=n)
        for n in range(8)
    ),
)


def look(tid: int, *, ticks: int, cpu: int = 0, migrations: int | None = 0) -> Look:
    return Look(f"p/t/{tid}", 1, TaskStat(tid, "t", "S", ticks, 7, cpu), migrations)


def test_use_and_moves_are_per_second() -> None:
    before = {(1, 7): look(1, ticks=100, migrations=3), (2, 7): look(2, ticks=0, migrations=None)}
    now = {
        (1, 7): look(1, ticks=150, cpu=5, migrations=9),
        (2, 7): look(2, ticks=0, migrations=None),
    }
    first, second = rows(before, now, 2.0, 100, nearest_interrupt(TOPOLOGY, [4]))
    assert (first.cpu, first.moves_per_second, first.from_irq) == (0.25, 3.0, Nearness.CACHE)
    assert cells(second)[4] == "-"


def test_a_number_that_was_given_again_is_another_thread() -> None:
    assert rows({(1, 7): look(1, ticks=9)}, {(1, 8): look(1, ticks=1)}, 1.0, 100, {}) == []


def test_distance_is_from_the_nearest_interrupt() -> None:
    found = nearest_interrupt(TOPOLOGY, [0, 7, 99])
    assert found[0] is Nearness.SAME
    assert found[6] is Nearness.CACHE
    assert found[2] is Nearness.MEMORY
    assert nearest_interrupt(TOPOLOGY, [99]) == {}


def test_a_look_that_finds_nothing_new_reads_less(tmp_path: Path) -> None:
    task = tmp_path / "proc/5/task/5"
    task.mkdir(parents=True)
    (tmp_path / "proc/5/comm").write_text("sort\n")
    fields = ["0"] * 50
    (task / "stat").write_text(f"5 (sort) {' '.join(fields)}\n")
    (task / "sched").write_text("se.nr_migrations : 4\n")
    looking = Looking(Root(tmp_path), lambda: [5], {}, ThreadKeys.of(Root(tmp_path)))
    assert looking.rows() == []
    (task / "sched").unlink()
    (row,) = looking.rows()
    assert (row.key, row.moves_per_second) == ("sort/sort/0", 0.0)


def test_a_frame_fits_its_screen() -> None:
    found = rows(
        {(n, 7): look(n, ticks=0) for n in range(50)},
        {(n, 7): look(n, ticks=n) for n in range(50)},
        1.0,
        100,
        {},
    )
    table = frame(found, height=20)
    assert table.row_count == 17
    assert str(table.title).startswith("50 threads, 1225 % CPU")


@pytest.mark.unhurried
@pytest.mark.machine
def test_one_frame_where_stdout_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        words = ["affinity", "top", "-p", str(child.pid), "--interval", "0.1"]
        try:
            assert run_command(words) == 0
            assert capsys.readouterr().out.startswith("THREAD")
            assert run_command([*words, "--json"]) == 0
        finally:
            child.kill()
    (found,) = json.loads(capsys.readouterr().out)
    names = {"key", "pid", "tid", "core", "cpu", "moves_per_second", "from_irq", "name"}
    assert set(found) == names
    assert found["tid"] == child.pid
