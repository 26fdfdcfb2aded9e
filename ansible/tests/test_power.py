"""Guests that are synced, shut down or cut: each step ends, whatever libvirt does.

virsh is a program on PATH; QEMU is a process with a command line as libvirt gives it.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from modules import load

power = load("modules/vas_power.py")
pytestmark = pytest.mark.machine

# It answers as virsh does, for guests whose names are files of $GUESTS; without --mode acpi a
# shutdown waits for the agent. GUEST.deaf: it stays. GUEST.hung: its kernel hangs, its agent's port
# is open. GUEST.stuck: any job of libvirt's for it waits. GUEST.answer: what its agent says to a
# guest-exec, GUEST.status to a guest-exec-status.
_VIRSH = """#!/bin/sh
shift # --quiet
echo "$@" >>"$GUESTS.calls"
for name in "${2:-no}" "${3:-no}" "${4:-no}"; do
    [ ! -e "$GUESTS/$name.stuck" ] || exec sleep 600
done
case "$1" in
list) [ "$4" = --autostart ] && echo vm2 || ls "$GUESTS" ;;
destroy) rm "$GUESTS/$2" 2>/dev/null || { echo "error: domain is not running" >&2; exit 1; } ;;
shutdown)
    [ "$2 $3" = "--mode acpi" ] && name=$4 || name=$2
    [ "$2 $3" = "--mode acpi" ] || [ ! -e "$GUESTS/$name.hung" ] || exec sleep 600
    [ -e "$GUESTS/$name.deaf" ] || [ -e "$GUESTS/$name.hung" ] || rm -f "$GUESTS/$name" ;;
qemu-agent-command)
    [ ! -e "$GUESTS/$4.hung" ] || exec sleep 600
    case "$5" in
    *guest-exec-status*)
        if [ -e "$GUESTS/$4.status" ]; then exec cat "$GUESTS/$4.status"; fi
        echo x >>"$GUESTS/$4.asked"
        [ "$(wc -l <"$GUESTS/$4.asked")" -gt "${POLLS:-0}" ] || EXITED=false
        echo '{"return": {"exited": '"${EXITED:-true}"', "exitcode": '"${CODE:-0}"'}}' ;;
    *) cat "$GUESTS/$4.answer" 2>/dev/null || echo '{"return": {"pid": 7}}' ;;
    esac ;;
esac
"""
_HANGS = "#!/bin/sh\nexec sleep 600\n"


@pytest.fixture
def guests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory of guests that a virsh of the test's knows."""
    there = tmp_path / "guests"
    there.mkdir()
    virsh(tmp_path, _VIRSH)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("GUESTS", str(there))
    return there


def virsh(directory: Path, text: str) -> None:
    (directory / "virsh").write_text(text)
    (directory / "virsh").chmod(0o755)


def named(tmp_path: Path, *names: str, call_seconds: float = 10.0) -> power.Guests:
    return power.Guests([*names], power.Libvirt(call_seconds), tmp_path)


@pytest.fixture
def qemu(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process of vm1, with its pid file."""
    argv = ["-c", "sleep 600; :", "qemu", "-name", "guest=vm1,debug-threads=on"]
    process = subprocess.Popen(["/bin/sh", *argv], start_new_session=True)
    (tmp_path / "vm1.pid").write_text(f"{process.pid}\n")
    yield process
    with suppress(ProcessLookupError):
        os.killpg(process.pid, 9)
    process.wait()


def test_D1_a_guest_is_synced_by_its_agent(guests: Path, tmp_path: Path) -> None:
    (guests / "vm1").touch()
    assert power.act(named(tmp_path, "vm1", "vm2"), "sync", 5) == (["vm1"], {})
    calls = (tmp_path / "guests.calls").read_text()
    assert '"path": "/bin/sync"' in calls and "vm2" not in calls


@pytest.mark.unhurried
@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("CODE", "1", "the guest's sync failed"),
        ("EXITED", "false", "the guest's sync did not end within 1 s"),
    ],
)
def test_D1_a_sync_that_did_not_end_well_is_no_sync(
    guests: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: str, why: str
) -> None:
    (guests / "vm1").touch()
    monkeypatch.setenv(key, value)
    done, failed = power.act(named(tmp_path, "vm1"), "sync", 1)
    assert done == [] and why in failed["vm1"]


@pytest.mark.unhurried
def test_guests_that_do_not_shut_down_are_named(guests: Path, tmp_path: Path) -> None:
    for name in ("vm1", "vm2", "vm2.deaf"):
        (guests / name).touch()
    done, failed = power.act(named(tmp_path, "vm1", "vm2"), "shutdown", 1)
    assert done == ["vm1"]
    assert failed == {"vm2": "does not shut down within 1 s"}
    assert power.act(named(tmp_path, "vm2"), "cut", 0) == (["vm2"], {})
    assert power.act(named(tmp_path, "vm2"), "cut", 0) == ([], {})


@pytest.mark.unhurried
def test_H5_a_libvirt_that_hangs_keeps_no_guest_s_memory(
    guests: Path, tmp_path: Path, qemu: subprocess.Popen[bytes]
) -> None:
    virsh(tmp_path, _HANGS)
    started = time.monotonic()
    libvirt = power.Libvirt(1.0)
    for action in ("sync", "shutdown", "cut"):
        # A module's process each, as Ansible has it.
        made = power.Guests(["vm1", "vm2"], power.Libvirt(1.0), tmp_path)
        assert made.running() == ["vm1"], action
        done, failed = power.act(made, action, 20)
        assert done == (["vm1"] if action == "cut" else []), failed
        if action != "cut":
            assert failed == {"vm1": "no answer to virsh version within 1 s"}
    assert qemu.poll() == -9
    assert time.monotonic() - started < 20
    assert power.Guests(["vm1"], libvirt, tmp_path).running() == []


@pytest.mark.unhurried
def test_H5_no_process_but_the_guest_s_own_is_killed(
    guests: Path, tmp_path: Path, qemu: subprocess.Popen[bytes]
) -> None:
    """Its number may be another program's by now."""
    virsh(tmp_path, _HANGS)
    (tmp_path / "vm10.pid").write_text(f"{qemu.pid}\n")
    (tmp_path / "vm2.pid").write_text(f"{os.getpid()}\n")
    (tmp_path / "vm3.pid").write_text("no number\n")
    made = named(tmp_path, "vm10", "vm2", "vm3", call_seconds=1.0)
    assert made.running() == []
    assert power.act(made, "cut", 1) == ([], {})
    assert qemu.poll() is None


# It ends the guest's QEMU, whose number is free then, and says that something else went wrong.
_ENDS_AND_COMPLAINS = """#!/bin/sh
[ "$2" = destroy ] || exit 0
pid=$(cat "$GUESTS/../vm1.pid")
kill -9 "$pid"
while [ -e "/proc/$pid" ]; do sleep 0.05; done
echo "error: cannot acquire state change lock" >&2
exit 1
"""


def test_H5_a_guest_that_ends_while_virsh_is_asked_is_not_killed_again(
    guests: Path, tmp_path: Path, qemu: subprocess.Popen[bytes]
) -> None:
    virsh(tmp_path, _ENDS_AND_COMPLAINS)
    threading.Thread(target=qemu.wait, daemon=True).start()
    made = named(tmp_path, "vm1")
    assert made.pid("vm1") == qemu.pid
    made.cut("vm1")
    assert made.pid("vm1") is None


def test_guests_do_not_start_with_the_server(guests: Path, tmp_path: Path) -> None:
    assert named(tmp_path, "vm1", "vm2").keep_down(tmp_path) == (["vm2"], {})
    calls = (tmp_path / "guests.calls").read_text().splitlines()
    assert [call for call in calls if "--disable" in call] == ["autostart --disable vm2"]


@pytest.mark.unhurried
def test_H5_they_do_not_where_libvirt_hangs_either(guests: Path, tmp_path: Path) -> None:
    virsh(tmp_path, _HANGS)
    for name in ("vm1", "theirs"):
        (tmp_path / f"{name}.xml").symlink_to("/etc/libvirt/qemu/x.xml")
    assert named(tmp_path, "vm1", "vm2", call_seconds=1.0).keep_down(tmp_path) == (["vm1"], {})
    assert not (tmp_path / "vm1.xml").is_symlink()
    assert (tmp_path / "theirs.xml").is_symlink()


@pytest.mark.unhurried
def test_H5_one_whose_autostart_libvirt_cannot_take_loses_its_link(
    guests: Path, tmp_path: Path
) -> None:
    (guests / "vm2.stuck").touch()
    (tmp_path / "vm2.xml").symlink_to("/etc/libvirt/qemu/vm2.xml")
    made = named(tmp_path, "vm1", "vm2", call_seconds=1.0)
    assert made.keep_down(tmp_path) == (["vm2"], {})
    assert not (tmp_path / "vm2.xml").is_symlink()
    assert made.libvirt.silent == ""


@pytest.mark.unhurried
def test_H5_an_agent_that_hangs_takes_no_sync_and_no_shutdown_from_the_others(
    guests: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others' syncs still run when its call is late."""
    monkeypatch.setenv("POLLS", "4")
    for name in ("vm1", "vm1.hung", "vm2", "vm3"):
        (guests / name).touch()
    made = named(tmp_path, "vm1", "vm2", "vm3", call_seconds=5.0)
    done, failed = power.act(made, "sync", 5)
    assert done == ["vm2", "vm3"]
    assert "no answer to virsh qemu-agent-command within" in failed.pop("vm1") and not failed
    made = named(tmp_path, "vm1", "vm2", "vm3", call_seconds=30.0)
    done, failed = power.act(made, "shutdown", 2)
    assert done == ["vm2", "vm3"]
    assert failed == {"vm1": "does not shut down within 2 s"}
    assert made.libvirt.silent == ""


@pytest.mark.unhurried
def test_H5_a_guest_that_libvirt_cannot_tell_keeps_nobody_up(guests: Path, tmp_path: Path) -> None:
    for name in ("vm1", "vm1.stuck", "vm2", "vm3"):
        (guests / name).touch()
    made = named(tmp_path, "vm1", "vm2", "vm3", call_seconds=5.0)
    done, failed = power.act(made, "shutdown", 5)
    assert done == ["vm2", "vm3"]
    assert failed == {"vm1": "no answer to virsh shutdown within 5 s"}


@pytest.mark.parametrize(
    ("file", "answer"),
    [
        *[("answer", text) for text in ("[]", "null", '{"return": []}', '{"return": null}', "{")],
        ("answer", '{"return": {"pid": [7]}}'),
        ("answer", '{"return": {"pid": true}}'),
        ("answer", "[" * 100_000),
        ("answer", '{"return": {"pid": "\\ud800\\u001b[2J"}}'),
        ("status", '{"return": []}'),
        ("status", '{"return": {"exited": "yes", "exitcode": 0}}'),
        ("status", '{"return": {"exited": true}}'),
        ("status", '{"return": {"exited": true, "exitcode": false}}'),
        ("status", '{"return": {"exited": true, "exitcode": 1, "err-data": 7}}'),
        ("status", '{"return": {"exited": true, "exitcode": 1, "err-data": {}}}'),
        ("status", '{"return": {"exited": true, "exitcode": 1, "err-data": "\\u00e9"}}'),
        ("status", '{"return": {"exited": true, "exitcode": 1, "err-data": "G1syShs="}}'),
    ],
)
def test_H5_a_hostile_agent_fails_for_its_own_guest_alone(
    guests: Path, tmp_path: Path, file: str, answer: str
) -> None:
    """Its reason is one short line that a terminal and the module's JSON can have."""
    for name in ("vm1", "vm2"):
        (guests / name).touch()
    (guests / f"vm1.{file}").write_text(answer)
    done, failed = power.act(named(tmp_path, "vm1", "vm2"), "sync", 3)
    assert done == ["vm2"] and [*failed] == ["vm1"]
    assert 0 < len(failed["vm1"]) <= 400 and failed["vm1"].isprintable()
    json.dumps(failed, ensure_ascii=False).encode()


def test_H5_a_libvirt_that_is_not_there_is_silent(guests: Path, tmp_path: Path) -> None:
    """Words of its error are no guests; the links go."""
    virsh(tmp_path, "#!/bin/sh\necho 'error: failed to connect vm2' >&2\nexit 1\n")
    (tmp_path / "vm1.xml").symlink_to("/etc/libvirt/qemu/vm1.xml")
    made = named(tmp_path, "vm1", "vm2")
    assert made.keep_down(tmp_path) == (["vm1"], {})
    assert made.libvirt.silent == "error: failed to connect vm2"
