"""An OST that is away stops what needs it and nothing else; requests are counted by object."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from stand_in import in_lab, start_lab, stop

from vas_core.process import run
from vas_lab.lustre.mds import client
from vas_lab.lustre.mds.board import Board
from vas_lab.lustre.stand_in import LabLustre

pytestmark = pytest.mark.machine

_SHUTDOWN = "Cannot send after transport endpoint shutdown"


def _python(code: str) -> str:
    """A command that runs code without the looks that coreutils take first."""
    return f"{sys.executable} -S -c 'import os; {code}'"


NEEDS_THE_OBJECT = {
    "stat": "stat -c %s {}",
    "ls": "ls -l {}",
    "read": "cat {}",
    "copy": "cp {} copied",
    "dd": "dd if={} of=/dev/null status=none",
    "append": "dd if=/etc/hostname of={} oflag=append conv=notrunc status=none",
    "truncate": "truncate -s 1 {}",
    "fsync": "dd if=/dev/null of={} conv=notrunc,fsync status=none",
    "pread": _python('os.pread(os.open("{}", os.O_RDONLY), 1, 0)'),
}
NEEDS_THE_MDT = {
    "list": "ls -d {}",
    "layout": "lfs getstripe -y {}",
    "attribute": _python('os.getxattr("{}", "lustre.lov")'),
    "rename": _python('os.rename("{}", "renamed")'),
    "chmod": _python('os.chmod("{}", 0o600)'),
    "open": _python('os.open("{}", os.O_RDONLY)'),
    "remove": _python('os.unlink("{}")'),
}


@pytest.fixture
def away(site: LabLustre) -> Iterator[int]:
    """The index of an OST that is away; `on-it` lies on it, `beside` on another one."""
    in_lab(site, "rm -rf * && lfs setstripe -i 1 on-it && lfs setstripe -i 2 beside")
    in_lab(site, "for f in on-it beside; do echo bytes > $f; done")
    in_lab(site, "lctl set_param osc.testfs-OST0001-*.active=0")
    yield 1
    in_lab(site, "lctl set_param osc.testfs-OST0001-*.active=1; rm -rf *")


@pytest.mark.unhurried
@pytest.mark.parametrize("call", NEEDS_THE_OBJECT)
def test_R4_what_needs_an_object_there_fails(site: LabLustre, away: int, call: str) -> None:
    failed = in_lab(site, NEEDS_THE_OBJECT[call].format("on-it"), check=False)
    assert failed.status != 0, call
    assert _SHUTDOWN in failed.stderr
    in_lab(site, NEEDS_THE_OBJECT[call].format("beside"))


@pytest.mark.parametrize("call", NEEDS_THE_MDT)
def test_R4_what_the_mdt_answers_goes_on(site: LabLustre, away: int, call: str) -> None:
    in_lab(site, NEEDS_THE_MDT[call].format("on-it"))


@pytest.mark.unhurried
def test_R4_new_objects_lie_elsewhere(site: LabLustre, away: int) -> None:
    in_lab(site, "for i in $(seq 20); do touch new$i; done; lfs setstripe -c -1 wide")
    in_lab(site, "lfs setstripe -i 1 there; echo x > there; cat there")
    indices = in_lab(site, "for f in new* wide there; do lfs getstripe $f; done").stdout
    osts = {line.split()[0] for line in indices.splitlines() if "0x" in line and line[:1] == "\t"}
    assert osts == {"0", "2", "3"}


def test_R4_a_component_begun_now_avoids_it(site: LabLustre, away: int) -> None:
    in_lab(site, "lfs setstripe -E 64k -c 1 -i 2 -E -1 -S 64k -c -1 pfl")
    in_lab(site, "dd if=/dev/zero of=pfl bs=64k count=8 conv=notrunc status=none")
    in_lab(site, "cat pfl > /dev/null")
    assert "l_ost_idx: 1," not in in_lab(site, "lfs getstripe pfl").stdout


def test_R4_only_the_stripes_there_cannot_be_read(site: LabLustre) -> None:
    in_lab(site, "lfs setstripe -S 64k -o 0,1,2 striped; head -c 192k /dev/zero > striped")
    in_lab(site, "lctl set_param osc.testfs-OST0001-*.active=0")
    try:
        for stripe, works in ((0, True), (1, False), (2, True)):
            read = _python(f'os.pread(os.open("striped", os.O_RDONLY), 65536, {stripe << 16})')
            assert (in_lab(site, read, check=False).status == 0) == works, stripe
    finally:
        in_lab(site, "lctl set_param osc.testfs-OST0001-*.active=1")
    in_lab(site, "cat striped > /dev/null; rm striped")


def test_R4_requests_are_counted_for_each_object(site: LabLustre) -> None:
    board = Board(site.state_dir)
    in_lab(site, "lfs setstripe -c 4 four; lfs setstripe -c 1 one")
    assert client.call(site.socket, "count", on=True) == board.requests()
    for name, objects in (("four", 4), ("one", 1)):
        before = board.requests()
        code = (
            f"import os; fd = os.open({name!r}, os.O_WRONLY); os.fsync(fd); os.fstat(fd); "
            f"os.unlink({name!r})"
        )
        run([sys.executable, "-S", "-c", code], env=site.environment(), cwd=site.mount)
        after = board.requests()
        assert {kind: after[kind] - before[kind] for kind in after} == {
            "glimpses": objects, "syncs": objects, "destroys": objects, "punches": 0,
            "reads": 0, "writes": 0, "opens": 1, "locks": 0,
        }  # fmt: skip
    before = board.requests()
    in_lab(
        site,
        _python(
            'fd = os.open("new", os.O_RDWR | os.O_CREAT); os.write(fd, b"12"); '
            "os.pread(fd, 1, 0); os.pread(fd, 1, 1)"
        ),
    )
    after = board.requests()
    moved = {kind: after[kind] - before[kind] for kind in ("opens", "writes", "reads")}
    assert moved == {"opens": 1, "writes": 1, "reads": 2}
    lock = (
        'fd = os.open("new", os.O_RDWR); import fcntl, struct; fcntl.flock(fd, fcntl.LOCK_EX); '
        "fcntl.flock(fd, fcntl.LOCK_UN); fcntl.lockf(fd, fcntl.LOCK_EX); "
        "fcntl.lockf(fd, fcntl.LOCK_UN); fcntl.fcntl(fd, fcntl.F_SETFD, 1); "
        'of_file = struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0); '
        "fcntl.fcntl(fd, fcntl.F_OFD_SETLK, of_file)"
    )
    in_lab(site, f"{_python(lock)} && flock new true && flock /dev/null true")
    assert board.requests()["locks"] - after["locks"] == 4
    after = board.requests()
    client.call(site.socket, "count", on=False)
    in_lab(site, "flock new touch uncounted; stat uncounted; rm uncounted")
    assert board.requests() == after


@pytest.mark.unhurried
@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_R3_an_ordinary_user_may_not_stripe_directories() -> None:
    with tempfile.TemporaryDirectory() as directory:
        state = Path(directory)
        lab, mds = start_lab(state)
        try:
            for path in (state, lab.mount, lab.socket):
                path.chmod(0o777)
            assert _mkdir_as_nobody(lab) == errno.EPERM
            in_lab(lab, "lctl set_param -P mdt.*.enable_remote_dir_gid=-1")
            assert _mkdir_as_nobody(lab) == errno.EINVAL, "the lab has one MDT"
        finally:
            stop(mds)


def _mkdir_as_nobody(lab: LabLustre) -> int:
    """The exit status of `lfs mkdir -c 2` by an ordinary user, who cannot read root's Python."""
    code = (
        "import os, sys; from vas_lab.lustre.lfs.__main__ import main\n"
        "os.setegid(65534); os.seteuid(65534); sys.exit(main(['mkdir', '-c', '2', 'striped']))"
    )
    done = run([sys.executable, "-c", code], env=lab.environment(), cwd=lab.mount, check=False)
    assert "dirstripe error on 'striped'" in done.stderr, done.stderr
    return done.status
