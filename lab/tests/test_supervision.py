"""The parts of supervision that need no namespaces: locks, requests, children, lines, /proc."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vas_core.errors import BadInput, VasError
from vas_core.polling import poll
from vas_core.root import Root
from vas_lab import control
from vas_lab.ending import kill, supervisors
from vas_lab.hadoop.daemons import LabDaemon
from vas_lab.inside.children import Children
from vas_lab.inside.supervisor import Supervisor
from vas_lab.lab import wanted
from vas_lab.procfs import available_memory, cpu_seconds, parse_stat, processes
from vas_lab.sites import lab_site_yaml
from vas_lab.spec import LabSpec
from vas_lab.state import default_directory, hold, is_running, last_up_seconds, wipe
from vas_yarn.jobs.client import Cancelled, lines_while_wanted
from vas_yarn.jobs.events import Event, read_events

pytestmark = pytest.mark.machine


def test_a_lock_lives_as_long_as_a_process_that_has_it(tmp_path: Path) -> None:
    assert not is_running(tmp_path)
    with hold(tmp_path) as lock:
        argv = [sys.executable, "-c", "input()"]
        child = subprocess.Popen(argv, stdin=subprocess.PIPE, pass_fds=(lock,))
    assert is_running(tmp_path)
    with pytest.raises(VasError, match="starting already"), hold(tmp_path):
        pass
    child.communicate(b"\n")
    assert not is_running(tmp_path)


def test_a_request_crosses_a_path_too_long_for_a_socket(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    listener = control.listen(deep)

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            asked = control.receive(connection)
            answer = control.ControlAnswer(error=f"no {asked.daemon}")
            connection.sendall(answer.model_dump_json().encode())

    server = threading.Thread(target=serve)
    server.start()
    with pytest.raises(BadInput, match="no vm9"):
        control.ask(deep, control.ControlRequest(ask="start", daemon="vm9"))
    server.join()
    listener.close()


def test_a_lab_that_is_gone_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(VasError, match="does not answer"):
        control.ask(tmp_path, control.ControlRequest(ask="status"))


def test_who_has_just_ended_is_killed_without_a_word() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    kill(gone.pid)


def test_a_runner_that_does_not_end_is_an_error_and_dies() -> None:
    deaf = [sys.executable, "-c", "import time; time.sleep(600)"]
    with (
        pytest.raises(VasError, match="a job that was cancelled goes on") as late,
        wanted(deaf, b"line\n", 0.1) as process,
    ):
        pass
    assert late.value.hint == "`vas lab down` ends it with its lab"
    assert process.returncode == -signal.SIGKILL


def test_a_runner_that_ends_before_it_read_is_asked_why() -> None:
    with wanted(["false"], b"x" * (1 << 20), 10) as process:
        pass
    assert process.returncode == 1


def test_events_survive_any_text() -> None:
    event = Event(kind="output", text='a "quoted"\nline')
    assert list(read_events([event.model_dump_json().encode() + b"\n"])) == [event]


def test_lines_come_whole_and_the_last_one_too() -> None:
    output, writer = os.pipe()
    lifeline, lifeline_end = os.pipe()
    os.write(writer, b"one\ntw")
    lines = lines_while_wanted(output, lifeline)
    assert next(lines) == b"one\n"
    os.write(writer, b"o\n\nthree")
    os.close(writer)
    assert list(lines) == [b"two\n", b"\n", b"three"]
    os.close(lifeline_end)


def test_who_lost_the_lifeline_reads_no_further() -> None:
    output, _writer = os.pipe()
    lifeline, lifeline_end = os.pipe()
    os.close(lifeline_end)
    with pytest.raises(Cancelled):
        next(lines_while_wanted(output, lifeline))


def test_poll_says_what_it_saw_last() -> None:
    with pytest.raises(VasError, match="waited 0 s for rain; last seen: sun"):
        poll(lambda: "sun", lambda seen: seen == "rain", 0, "rain")


def test_a_process_may_be_called_anything() -> None:
    fields = " ".join(str(number) for number in range(4, 53))
    process = parse_stat(f"42 (a) b (c)) S {fields}")
    # Of 4 .. 52 as fields 4 .. 52: parent 4, times 14 to 17, rss 24.
    assert (process.pid, process.parent, process.cpu_ticks) == (42, 4, 14 + 15 + 16 + 17)
    assert process.rss_bytes == 24 * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.unhurried
def test_cpu_of_ended_children_counts() -> None:
    def own_ticks() -> int:
        return parse_stat(Path("/proc/self/stat").read_text()).cpu_ticks

    before = own_ticks()
    subprocess.run([sys.executable, "-c", "sum(range(20_000_000))"], check=True)
    assert own_ticks() > before
    # The sum over a machine falls when others' orphans end; over a lab, whose PID 1 waits, never.
    assert cpu_seconds(Root()) > 0
    assert os.getpid() in {process.pid for process in processes(Root())}
    assert available_memory(Root()) > 0


def test_the_last_start_is_remembered(tmp_path: Path) -> None:
    assert last_up_seconds(tmp_path) is None
    (tmp_path / "running.json").write_text('{"supervisor": 1, "started": 2, "up_seconds": 3}')
    assert last_up_seconds(tmp_path) == 3


@pytest.mark.parametrize("name", ["/tmp/precious", "../..", "..", ".", "", "a/b", "-x", "a\n"])
def test_a_name_is_no_path(name: str) -> None:
    with pytest.raises(BadInput, match="not a lab's name"):
        default_directory(name)


def test_only_a_lab_that_is_down_is_wiped(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    state_dir = tmp_path / "small"
    wipe(state_dir)
    with hold(state_dir):
        (state_dir / "logs").mkdir()
        (state_dir / "logs" / "a.log").touch()
        (state_dir / "link").symlink_to(precious)
        (state_dir / "running.json").touch()
        with pytest.raises(VasError, match="up already"):
            wipe(state_dir)
    wipe(state_dir)
    assert not state_dir.exists()
    state_dir.symlink_to(precious)
    for directory in (precious, state_dir):
        with pytest.raises(VasError, match="not a lab's directory"):
            wipe(directory)
    assert (precious / "file").exists()


def test_two_who_look_see_no_lab(tmp_path: Path) -> None:
    with hold(tmp_path):
        pass
    descriptor = os.open(tmp_path / "lock", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    assert not is_running(tmp_path)
    os.close(descriptor)


def test_a_start_waits_for_who_looks(tmp_path: Path) -> None:
    with hold(tmp_path):
        pass
    descriptor = os.open(tmp_path / "lock", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    threading.Timer(0.05, os.close, (descriptor,)).start()
    with hold(tmp_path):
        assert is_running(tmp_path)


@contextmanager
def as_another_user(directory: Path) -> Iterator[None]:
    """The body is not root, if this is; relative paths are below the directory."""
    before = Path.cwd()
    directory.chmod(0o755)
    os.chdir(directory)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        os.chdir(before)


@pytest.mark.usefixtures("usual_umask")
def test_another_users_lab_is_seen_and_not_taken(tmp_path: Path) -> None:
    with hold(tmp_path / "theirs"):
        lock = tmp_path / "theirs/lock"
        lock.chmod(0o444)
        with as_another_user(tmp_path):
            assert is_running(Path("theirs"))
            with pytest.raises(VasError, match="theirs/lock: Permission denied; set VAS_LABS to"):
                wipe(Path("theirs"))
        lock.chmod(0o000)
        with (
            as_another_user(tmp_path),
            pytest.raises(VasError, match="theirs/lock: Permission denied; set VAS_LABS to"),
        ):
            is_running(Path("theirs"))


def test_a_supervisor_is_known_by_its_state_directory(tmp_path: Path) -> None:
    for pid, parent, words in (
        (10, 1, ("unshare", "--", "python", "-m", "vas_lab.inside.supervisor", str(tmp_path))),
        (11, 10, ("python", "-m", "vas_lab.inside.supervisor", str(tmp_path))),
        (12, 1, ("python", "-m", "vas_lab.inside.supervisor", f"{tmp_path}/other")),
        (13, 1, ("vi", str(tmp_path))),
    ):
        directory = tmp_path / f"proc/{pid}"
        directory.mkdir(parents=True)
        (directory / "stat").write_text(f"{pid} (x) S {parent} " + "0 " * 48)
        (directory / "cmdline").write_bytes(b"".join(os.fsencode(w) + b"\0" for w in words))
    assert supervisors(Root(tmp_path), tmp_path) == [11]
    (tmp_path / "proc/11/cmdline").unlink()
    assert supervisors(Root(tmp_path), tmp_path) == [10]


def ended_child(argv: list[str]) -> subprocess.Popen[str]:
    """A child that has ended and that nobody waited for."""
    child = subprocess.Popen(argv, text=True)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    return child


def test_a_node_whose_holder_ends_is_lost(tmp_path: Path) -> None:
    children = Children(tmp_path, lambda daemon: (list(daemon.argv), os.environ))
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, text=True) as alive:
        children.watch({"vm1": ended_child(["false"]), "vm2": alive})
        assert children.reap() == []
    assert children.lost_nodes == {"vm1": "exit status 1"}


def test_a_daemon_that_dies_in_the_start_ends_it_though_somebody_asks(tmp_path: Path) -> None:
    spec = LabSpec(
        name="x",
        state_dir=tmp_path,
        hadoop_lib=tmp_path,
        plugin_jar=None,
        java_home=tmp_path,
        user_namespace=True,
    )
    spec.cluster_file.write_text(lab_site_yaml(1))
    spec.logs.mkdir()
    supervisor = Supervisor(spec)
    dies = LabDaemon(name="resourcemanager", node="rm", argv=("sh", "-c", "exit 3"), preload=False)
    supervisor._children.start(dies)
    pid = supervisor._children.status()[0].pid
    assert pid is not None
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(control.ControlRequest(ask="status").model_dump_json().encode() + b"\n")
        with pytest.raises(VasError, match="resourcemanager: exit status 3"):
            supervisor._serve(ours)
