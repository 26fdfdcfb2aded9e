"""What is broken in a lab, and what a disk without room is called."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from vas_core.errors import BadInput
from vas_lab.control import ControlAnswer, DaemonStatus
from vas_lab.disk import LAB_BYTES, check_disk, disk_error, free_bytes, says_full, used_bytes
from vas_lab.health import find_problems

GIB = 1 << 30
STATE = Path("/labs/demo")


def daemon(name: str, node: str, ended: str | None = None) -> DaemonStatus:
    return DaemonStatus(name=name, node=node, pid=None if ended else 7, rss_bytes=0, ended=ended)


def lab(nodes: dict[str, str], **ended: str) -> ControlAnswer:
    """An answer with vm1's and vm2's states; `resourcemanager="exit status 1"` is dead of it."""
    homes = {"resourcemanager": "rm", "nodemanager-vm1": "vm1", "nodemanager-vm2": "vm2"}
    daemons = [daemon(name, node, ended.get(name)) for name, node in homes.items()]
    return ControlAnswer(nodes=nodes, daemons=daemons)


RUNNING = {"vm1": "RUNNING", "vm2": "RUNNING"}


def test_a_whole_lab_has_no_problem() -> None:
    assert find_problems(lab(RUNNING), STATE) == []


def test_a_dead_node_is_one_problem_that_jobs_survive() -> None:
    for state in ("RUNNING", "LOST"):
        nodes = RUNNING | {"vm2": state}
        (found,) = find_problems(lab(nodes, **{"nodemanager-vm2": "killed by SIGKILL"}), STATE)
        assert found.what == "nodemanager-vm2 is dead (killed by SIGKILL)"
        assert "`vas lab logs --name demo nodemanager-vm2`" in found.fix
        assert not found.stops_jobs


def test_without_a_resourcemanager_nothing_else_matters() -> None:
    (found,) = find_problems(lab({}, resourcemanager="exit status 1"), STATE)
    assert (found.what, found.stops_jobs) == ("resourcemanager is dead (exit status 1)", True)
    (found,) = find_problems(lab({}), STATE)
    assert (found.what, found.stops_jobs) == ("the ResourceManager does not answer", True)


def test_a_node_without_a_holder_is_a_problem_that_jobs_survive() -> None:
    answer = lab(RUNNING).model_copy(update={"lost_nodes": {"oss1": "killed by SIGKILL"}})
    (found,) = find_problems(answer, STATE)
    assert found.what.startswith("oss1 cannot be entered: ") and "SIGKILL" in found.what
    assert "`vas lab down --name demo`" in found.fix
    assert not found.stops_jobs


def test_an_unhealthy_node_points_to_the_disk() -> None:
    (found,) = find_problems(lab(RUNNING | {"vm1": "UNHEALTHY"}), STATE)
    assert str(found).startswith("vm1 is UNHEALTHY at the ResourceManager; free some space at")


def test_a_disk_must_hold_the_copies() -> None:
    check_disk(LAB_BYTES + 4 * GIB, size=GIB, copies=4)
    with pytest.raises(BadInput) as refused:
        check_disk(LAB_BYTES + 4 * GIB - 1, size=GIB, copies=4)
    assert str(refused.value).startswith("disk: 4.5 GiB are needed, and 4.5 GiB are free; ")
    assert refused.value.hint == "give --size 1023M, or free some space"
    with pytest.raises(BadInput, match="are needed") as refused:
        check_disk(LAB_BYTES, size=GIB, copies=4)
    assert refused.value.hint == "free some space"


def test_space_is_looked_up_where_the_directory_will_be(tmp_path: Path) -> None:
    assert free_bytes(tmp_path / "not/yet") > 0
    (tmp_path / "a").write_bytes(bytes(1000))
    assert used_bytes(tmp_path) == 1000
    assert used_bytes(tmp_path / "none") == 0


def test_refusals_of_the_disk_are_one_line_with_the_fix() -> None:
    with pytest.raises(OSError) as full:
        Path("/dev/full").write_bytes(b"x")
    said = str(disk_error(full.value, STATE))
    assert said == "/labs/demo: No space left on device; the disk is full: free some space"
    wrong = OSError(errno.EIO, os.strerror(errno.EIO), "/labs/demo/x")
    assert str(disk_error(wrong, STATE)).startswith("/labs/demo/x: Input/output error; the disk")
    assert says_full("java.io.IOException: No space left on device")
    assert not says_full("Input path does not exist")
