"""The lab itself: what it is made of, and that nothing of it outlives it."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from vas_core.cli import vas
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_lab.control import ControlRequest
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.in_lab import VAS, labs_in, vas_lab
from vas_tests.leftovers import (
    assert_nothing_left,
    mentioning,
    mount_table,
    namespaces,
    namespaces_below,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
# A lab that starts for as long as a test wants: its job history answers where nobody asks for it.
NEVER_UP = ("--hosts", "1", "--plain", "-D", "mapreduce.jobhistory.webapp.address=rm:19891")


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize(
    "moment",
    [
        "writing Hadoop's configuration",
        "wiring",
        "waiting for the ResourceManager",
        # Its NodeManager is RUNNING then.
        "waiting for the JobHistoryServer",
    ],
)
def test_an_interrupted_start_leaves_nothing(
    tmp_path: Path, moment: str, number: signal.Signals
) -> None:
    mounts = mount_table()
    up = subprocess.Popen(
        [*VAS, "lab", "up", *NEVER_UP, "--name", "brief"],
        env=labs_in(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert up.stderr is not None
    said = next((line for line in up.stderr if moment in line), None)
    assert said, "it ended before that moment"
    seen = namespaces_below(up.pid)
    up.send_signal(number)
    assert up.wait(30) in (130, -number)
    up.stderr.close()
    assert_nothing_left(tmp_path / "brief", seen, mounts)


@pytest.mark.long
def test_a_lab_that_is_starting_is_called_so_and_can_be_ended(tmp_path: Path) -> None:
    mounts = mount_table()
    command, env = [*VAS, "lab"], labs_in(tmp_path)
    up = subprocess.Popen([*command, "up", *NEVER_UP], env=env, stderr=subprocess.PIPE, text=True)
    assert up.stderr is not None
    assert next((line for line in up.stderr if "waiting for" in line), None)
    seen = namespaces_below(up.pid)
    for word, status, said in (("status", 1, "is starting\n"), ("down", 0, "is down\n")):
        done = subprocess.run(
            [*command, word], env=env, check=False, capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (status, f"lab lab {said}")
    (last,) = [line for line in up.stderr if line.startswith("vas: ")]
    assert up.wait(30) == 1
    up.stderr.close()
    assert "ended with status" in last and "supervisor.log" in last
    assert_nothing_left(tmp_path / "lab", seen, mounts)


@pytest.mark.long
def test_a_node_whose_holder_died_is_told(tmp_path: Path) -> None:
    options = LabOptions(state_dir=tmp_path / "held", hosts=1, plain=True)
    with Lab.start(options) as held:
        assert vas_lab(held, "status").returncode == 0
        holders = json.loads(held.spec.holders_file.read_text())
        held.call(["kill", "-9", str(holders["vm1"])])
        poll(held.problems, bool, 20, "its death to be noticed")
        shown = vas_lab(held, "status", "--json")
        (problem,) = json.loads(shown.stdout)["problems"]
        assert (shown.returncode, problem["stops_jobs"]) == (1, False)
        assert problem["what"].startswith("vm1 cannot be entered: ")
        ran = vas_lab(held, "run", "pi", "1", "1")
        assert ran.returncode == 0, ran.stderr
        assert "vm1 cannot be entered: " in ran.stderr


@pytest.mark.nightly
@pytest.mark.long
def test_two_labs_run_side_by_side_and_each_ends_alone(tmp_path: Path, lab: Lab) -> None:
    mounts = mount_table()
    defaults = set(Path("/tmp").glob("hadoop-*"))
    up = [*VAS, "lab", "up", "--hosts", "2", "--plain", "--name", "second"]
    env = labs_in(tmp_path)
    subprocess.run(up, env=env, check=True, capture_output=True)
    state_dir = tmp_path / "second"
    try:
        second = Lab.attach(state_dir)
        assert second.ask(ControlRequest(ask="status")).nodes == {
            "vm1": "RUNNING",
            "vm2": "RUNNING",
        }
        seen = namespaces(second.running.supervisor)
        assert second.call(["hostname"], node="oss2").stdout == "oss2\n"
        again = subprocess.run(up, env=env, check=False, capture_output=True, text=True)
        assert (again.returncode, again.stderr.count("\n")) == (1, 1)
        assert "a lab is up already" in again.stderr
    finally:
        down = [*VAS, "lab", "down", "--name", "second", "--wipe"]
        subprocess.run(down, env=env, check=True, capture_output=True)
    assert_nothing_left(state_dir, seen, mounts)
    assert not state_dir.exists()
    # A default of Hadoop's that was not overridden would lead out of the lab.
    assert set(Path("/tmp").glob("hadoop-*")) <= defaults
    assert set(lab.ask(ControlRequest(ask="status")).nodes.values()) == {"RUNNING"}


def test_the_network_is_that_of_the_map(lab: Lab) -> None:
    for host in lab.spec.cluster.hosts:
        (guest,) = host.guests
        of_host = lab.call(["ip", "-o", "addr"], node=host.name).stdout
        of_guest = lab.call(["ip", "-o", "addr"], node=guest.name).stdout
        assert f"{host.nics.pf}    inet {host.address}/24" in of_host
        assert f"{host.nics.bridge}    inet 169.254.213.1/24" in of_host
        assert f"{host.nics.vf}    inet {guest.address}/24" in of_guest
        assert "virtio0    inet 169.254.213.2/24" in of_guest
        links = lab.call(["ip", "-o", "link"], node=guest.name).stdout
        assert guest.macs.vf in links and guest.macs.virtio in links


def test_every_node_reaches_every_other_by_name(lab: Lab) -> None:
    listen = "import socket; s = socket.create_server(('', 7777)); s.accept()[0].sendall(b'here')"
    connect = (
        "import socket, sys; s = socket.create_connection((sys.argv[1], 7777), 10);"
        "print(s.getpeername()[0], s.recv(9).decode())"
    )
    server = subprocess.Popen(lab.enter([sys.executable, "-c", listen], node="vm3"))
    try:
        poll(
            lambda: lab.call(["cat", "/proc/net/tcp"], node="vm3").stdout,
            lambda table: ":1E61 00000000:0000 0A" in table,
            20,
            "the server to listen",
        )
        said = lab.call([sys.executable, "-c", connect, "vm3"], node="oss1").stdout
    finally:
        server.kill()
        server.wait()
    assert said == "10.77.0.23 here\n"


def test_an_interrupted_run_kills_its_job(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "shared").symlink_to(lab.spec.state_dir)
    endless = ["pi", "1", "1000000000000"]
    run = subprocess.Popen(
        [*VAS, "lab", "run", "--name", "shared", *endless],
        env=labs_in(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stderr is not None
    said = next(line for line in run.stderr if "application_" in line)
    application = next(word for word in said.split() if word.startswith("application_"))
    run.send_signal(signal.SIGINT)
    assert run.wait(60) == 130
    run.stderr.close()
    show = (
        "import sys; from vas_yarn.resourcemanager import ResourceManagerClient as Client; "
        "print(Client.at('rm').state(sys.argv[1]))"
    )
    assert lab.call([sys.executable, "-c", show, application]).stdout == "KILLED\n"
    poll(lambda: mentioning(application), lambda lines: not lines, 30, "its containers to end")


def test_a_dead_daemon_is_noticed_logged_and_told(lab: Lab) -> None:
    assert vas_lab(lab, "status").returncode == 0
    lab.ask(ControlRequest(ask="signal", daemon="nodemanager-vm3", signal=signal.SIGKILL))
    log = lab.spec.state_dir / "supervisor.log"
    line = "nodemanager-vm3 on vm3: killed by SIGKILL; its log is "
    try:
        poll(log.read_text, lambda text: line in text, 20, "the death to be logged")
        shown = vas_lab(lab, "status")
        assert shown.returncode == 1
        assert "is BROKEN" in shown.stdout and "dead: killed by SIGKILL" in shown.stdout
        assert "nodemanager-vm3 is dead (killed by SIGKILL); `vas lab logs" in shown.stdout
        as_json = vas_lab(lab, "status", "--json")
        found = json.loads(as_json.stdout)
        assert (as_json.returncode, found["ok"], len(found["problems"])) == (1, False, 1)
        with pytest.raises(VasError, match="nodemanager-vm3 is dead"):
            lab.refuse_broken()
    finally:
        lab.ask(ControlRequest(ask="start", daemon="nodemanager-vm3"))
        poll(lab.problems, lambda problems: not problems, 60, "vm3 to be back")
    assert line in vas_lab(lab, "logs", "supervisor").stdout


def test_without_its_history_server_no_job_is_begun(lab: Lab) -> None:
    lab.ask(ControlRequest(ask="signal", daemon="jobhistory", signal=signal.SIGKILL))
    try:
        poll(lab.problems, bool, 20, "its death to be noticed")
        refused = vas_lab(lab, "run", "pi", "1", "1")
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
        assert "jobhistory is dead (killed by SIGKILL); `vas lab logs" in refused.stderr
    finally:
        lab.ask(ControlRequest(ask="start", daemon="jobhistory"))
    poll(lab.problems, lambda problems: not problems, 60, "the history server to be back")


@pytest.mark.parametrize("words", [("vm9",), ("vm9", "--", "hostname")])
def test_a_shell_on_no_node_names_the_nodes(lab: Lab, words: tuple[str, ...]) -> None:
    refused = vas_lab(lab, "shell", *words)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "vm9: no such node" in refused.stderr and "oss1, vm1" in refused.stderr
    assert vas_lab(lab, "shell", "vm2", "--", "hostname").stdout == "vm2\n"
    assert vas_lab(lab, "shell", "--", "hostname").stdout == "rm\n"
    assert "lfs" in vas_lab(lab, "shell", "lfs", "--version").stdout


def test_a_shell_at_a_terminal_says_where_it_is_and_what_to_try(lab: Lab) -> None:
    name = lab.spec.name
    words = shlex.join([*VAS, "lab", "shell", "--name", name, "vm1"])
    shell = subprocess.run(
        ("script", "-qec", words, "/dev/null"),
        input="hostname\nexit\n", env=labs_in(lab.spec.state_dir.parent),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    first, *rest = shell.stdout.replace("\r", "").splitlines()
    while "try:" not in first:  # the terminal's echo of what was typed
        first, *rest = rest
    assert first.startswith(f"lab {name}, node vm1; try: ls {lab.spec.cluster.lustre.mount}; ")
    assert any(f"{name}:vm1:" in line for line in rest)
    assert "vm1" in rest


_LISTEN = """
import socket
with socket.create_server(("", 7778)) as server:
    connection, _ = server.accept()
    while connection.recv(1 << 16):
        pass
    connection.sendall(b"!")
"""
_SEND = """
import socket, sys
with socket.create_connection((sys.argv[1], 7778), 20) as connection:
    connection.sendall(bytes(int(sys.argv[2])))
    connection.shutdown(socket.SHUT_WR)
    assert connection.recv(1) == b"!"
"""
_SENT_BYTES = 2_000_000


def sent_bytes(lab: Lab, guest: str) -> dict[str, int]:
    """Leg -> what a guest has sent by it, as `vas lab status --json` says."""
    paths = json.loads(vas_lab(lab, "status", "--json").stdout)["paths"]
    return {path["leg"]: path["tx_bytes"] for path in paths if path["node"] == guest}


@pytest.mark.parametrize(
    ("sender", "to", "leg", "other"),
    [
        ("vm1", "oss1", "virtio", "sriov"),
        ("vm1", "oss2", "sriov", "virtio"),
        ("vm1", "vm2", "sriov", "virtio"),
    ],
)
def test_a_guest_sends_to_its_own_host_by_virtio_and_elsewhere_by_its_vf(
    lab: Lab, sender: str, to: str, leg: str, other: str
) -> None:
    server = subprocess.Popen(lab.enter([sys.executable, "-c", _LISTEN], node=to))
    try:
        poll(
            lambda: lab.call(["cat", "/proc/net/tcp"], node=to).stdout,
            lambda table: ":1E62 00000000:0000 0A" in table,
            20,
            "the server to listen",
        )
        before = sent_bytes(lab, sender)
        lab.call([sys.executable, "-c", _SEND, to, str(_SENT_BYTES)], node=sender)
        after = sent_bytes(lab, sender)
    finally:
        server.kill()
        server.wait()
    assert after[leg] - before[leg] >= _SENT_BYTES
    # YARN's heartbeats go on meanwhile.
    assert after[other] - before[other] < _SENT_BYTES / 10


def test_the_switchers_state_is_each_nodes_own(lab: Lab) -> None:
    asked = [sys.executable, "-m", "vas_core", "route", "verify", "--json"]
    for node in ("oss1", "vm2"):
        said = json.loads(lab.call(asked, node=node).stdout)
        assert said == {"node": node, "changes": []}
    assert "virtio0" in vas_lab(lab, "status").stdout


_FULL_DISK = """
mount -t tmpfs -o size=560m tmpfs "$VAS_LABS"
trap '"$0" -m vas_core lab down --wipe' EXIT
"$0" -m vas_core lab up --hosts 1
echo it is up
"$0" -m vas_core lab run teragen 10000000 /too-much
"""


@pytest.mark.long
def test_a_job_that_fills_the_disk_says_so_in_one_line(tmp_path: Path) -> None:
    own = ["unshare", "--user", "--map-root-user", "--mount", "--"]
    if subprocess.run([*own, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no user namespaces")
    argv = [*own, "sh", "-euc", _FULL_DISK, sys.executable]
    env = labs_in(tmp_path)
    done = subprocess.run(argv, env=env, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "it is up\n"), done.stderr
    # The job met it first, or whoever keeps its log.
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("vas: ")]
    assert "the disk is full" in said and f"{tmp_path}/lab" in said, done.stderr


def test_a_shell_completes_the_nodes_of_a_lab(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAS_LABS", str(lab.spec.state_dir.parent))
    complete = ShellComplete(vas, {}, "vas", "_VAS_COMPLETE")
    words = ["lab", "shell", "--name", lab.spec.name]
    assert [item.value for item in complete.get_completions(words, "oss")] == [
        f"oss{number}" for number in (1, 2, 3, 4)
    ]
    assert complete.get_completions([*words, "vm1"], "oss") == []
