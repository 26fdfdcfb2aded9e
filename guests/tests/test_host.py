"""What libvirt is told of a guest, and asked for others: by a libvirt that is made up."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from vas_cluster import load_cluster
from vas_cluster.model import Disk
from vas_core.errors import BadInput, VasError
from vas_core.process import run
from vas_guest import libvirt as libvirt_module
from vas_guest.desired import DesiredGuest
from vas_guest.domain import console_file
from vas_guest.host import GuestHost
from vas_guest.settings import GuestSettings

SITE = Path(__file__).parents[2] / "cluster/examples/four-oss.yaml"
_POOL = "<pool><target><path>{}</path></target></pool>"


# Where a pool is of which libvirt can say nothing now.
NOBODY = Path("/nobody/answers")


class Libvirt:
    """virsh: machines by UUID, with their names, states and disks as they are defined and run."""

    def __init__(self) -> None:
        self.machines: dict[str, tuple[str, str]] = {}
        self.disks: dict[tuple[str, bool], str] = {}
        self.pools: dict[str, Path] = {}
        self.looks = 0
        self.changes: list[str] = []

    def add(self, uuid: str, name: str, state: str, *, defined: str = "", runs: str = "") -> None:
        self.machines[uuid] = (name, state)
        self.disks[uuid, False], self.disks[uuid, True] = defined, runs

    def virsh(self, _uri: str | None, *words: str, stdin: str | None = None) -> str:
        del stdin
        known = {"list": self._list, "dumpxml": self._dumpxml, "domstate": self._state}
        known |= {"pool-dumpxml": self._pool, "pool-list": lambda *_: "\n".join(self.pools)}
        if words[0] in known:
            return known[words[0]](*words[1:])
        self.changes.append(words[0])
        if words[0] == "shutdown":
            self._set(words[1], "in shutdown")
        elif words[0] == "start":
            if self.machines[words[1]][1] != "shut off":
                raise VasError("Domain is already active", where="virsh start")
            self._set(words[1], "running")
        return ""

    def _list(self, *options: str) -> str:
        """QEMU's process has ended when somebody has looked for the third time."""
        self.looks += 1
        if self.looks == 3:
            for uuid, (_, state) in list(self.machines.items()):
                self._set(uuid, "shut off" if state == "in shutdown" else state)
        assert not [word for word in options if word.startswith("--state")]
        rows = [
            f"{uuid} {name}" if "--name" in options else uuid
            for uuid, (name, state) in self.machines.items()
            if "--all" in options or state != "shut off"
        ]
        return "\n".join(rows) + "\n"

    def _dumpxml(self, uuid: str, *options: str) -> str:
        disks = self.disks[uuid, "--inactive" not in options]
        return f"<domain><devices>{disks}</devices></domain>"

    def _state(self, uuid: str) -> str:
        self._list()
        return f"{self.machines[uuid][1]}\n"

    def _pool(self, name: str) -> str:
        if self.pools[name] == NOBODY:
            raise VasError("failed to connect", where="virsh pool-dumpxml")
        return _POOL.format(self.pools[name])

    def _set(self, uuid: str, state: str) -> None:
        self.machines[uuid] = (self.machines[uuid][0], state)


@pytest.fixture
def libvirt(monkeypatch: pytest.MonkeyPatch) -> Libvirt:
    made = Libvirt()
    monkeypatch.setattr(libvirt_module, "virsh", made.virsh)
    return made


@pytest.fixture
def desired(tmp_path: Path) -> DesiredGuest:
    """A guest whose disk is there: it may be of before, and it may be somebody's."""
    cluster = load_cluster(SITE)
    (tmp_path / "lims.qcow2").write_text("somebody's data")
    (tmp_path / "vm1.qcow2").symlink_to("lims.qcow2")
    disk = Disk(path=str(tmp_path / "vm1.qcow2"), size="1GiB")
    guest = cluster.guests()[0].model_copy(update={"disks": [disk]})
    settings = GuestSettings(virtual_function=False, seeds=str(tmp_path / "seed"))
    return DesiredGuest(cluster, SITE.read_text(), guest, settings)


def source(**attributes: object) -> str:
    words = " ".join(f"{name}='{value}'" for name, value in attributes.items())
    return f"<disk><source {words}/></disk>"


@pytest.mark.parametrize("kind", ["file", "dev", "volume", "based on", "runs"])
def test_a_disk_of_another_machine_is_refused_before_anything_is_changed(
    kind: str, desired: DesiredGuest, libvirt: Libvirt, tmp_path: Path
) -> None:
    theirs = tmp_path / "lims.qcow2"
    libvirt.pools["default"] = tmp_path
    base = f"<backingStore>{source(file=theirs)}</backingStore>"
    disks = {
        "dev": source(dev=theirs),
        "volume": source(pool="default", volume=theirs.name),
        "based on": f"<disk><source file='/x'/>{base}</disk>",
    }
    known = disks.get(kind, source(file=theirs))
    defined, runs = ("", known) if kind == "runs" else (known, "")
    libvirt.add(
        "1", "lims", "running" if kind == "runs" else "shut off", defined=defined, runs=runs
    )
    libvirt.add("2", "theirs", "shut off", defined=source(protocol="rbd", name="x"))
    with pytest.raises(BadInput, match=r"vm1.qcow2: is a disk of lims, .*; .*virsh undefine lims"):
        GuestHost().apply(desired)
    assert libvirt.changes == []
    assert not desired.seed_file.parent.exists()


def test_a_disk_of_before_is_the_guests_again(
    desired: DesiredGuest, libvirt: Libvirt, tmp_path: Path
) -> None:
    """It stayed when the guest was forgotten; and of the guest itself it is anyway."""
    libvirt.add("1", "lims", "shut off", defined=source(file=tmp_path / "other"))
    libvirt.add("2", "lost", "shut off", defined=source(pool="gone", volume="vm1.qcow2"))
    GuestHost().refuse_disks(desired)
    libvirt.add(
        desired.uuid,
        desired.guest.name,
        "shut off",
        defined=source(file=desired.guest.disks[0].path),
    )
    GuestHost().refuse_disks(desired)


def test_a_file_is_another_machine_s_by_each_of_its_names(
    desired: DesiredGuest, libvirt: Libvirt, tmp_path: Path
) -> None:
    (tmp_path / "same").hardlink_to(tmp_path / "lims.qcow2")
    libvirt.add("1", "lims", "shut off", defined=source(file=tmp_path / "same"))
    with pytest.raises(BadInput, match=r"vm1.qcow2: is a disk of lims"):
        GuestHost().refuse_disks(desired)


def test_a_pool_that_cannot_be_asked_is_not_taken_for_none(
    desired: DesiredGuest, libvirt: Libvirt
) -> None:
    libvirt.pools["default"] = NOBODY
    volume = source(pool="default", volume="lims.qcow2")
    libvirt.add("1", "lims", "shut off", defined=volume)
    with pytest.raises(VasError, match="failed to connect"):
        GuestHost().refuse_disks(desired)


@pytest.mark.machine
def test_what_a_machine_that_is_shut_off_is_based_on_is_its_own(
    desired: DesiredGuest, libvirt: Libvirt, tmp_path: Path
) -> None:
    """By the headers of its disks; a raw one has none, whatever its first bytes say."""
    theirs = str(tmp_path / "lims.qcow2")
    clones = [str(tmp_path / "clone"), str(tmp_path / "clone-of-it")]
    run(["qemu-img", "create", "-q", "-f", "qcow2", theirs, "1M"])
    for base, clone in zip([theirs, clones[0]], clones, strict=True):
        run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", base, clone])
    shown = "<disk><driver type='{}'/><source file='{}'/></disk>"
    libvirt.add("1", "lims", "shut off", defined=shown.format("raw", clones[1]))
    GuestHost().refuse_disks(desired)
    libvirt.add("1", "lims", "shut off", defined=shown.format("qcow2", clones[1]))
    with pytest.raises(BadInput, match=r"vm1.qcow2: is a disk of lims"):
        GuestHost().refuse_disks(desired)


def test_a_guest_is_started_again_when_its_process_has_ended(
    desired: DesiredGuest, libvirt: Libvirt
) -> None:
    libvirt.add(desired.uuid, desired.guest.name, "running")
    GuestHost().restart(desired, 5)
    assert libvirt.changes == ["shutdown", "autostart", "start"]
    assert libvirt.machines[desired.uuid][1] == "running"


@pytest.mark.parametrize("device", [False, True])
def test_O7_of_the_console_that_a_guest_writes_the_end_alone_is_read(
    desired: DesiredGuest, libvirt: Libvirt, tmp_path: Path, device: bool
) -> None:
    libvirt.add(desired.uuid, desired.guest.name, "shut off")
    settings = desired.settings.model_copy(update={"consoles": str(tmp_path)})
    log = Path(console_file(desired.guest, settings))
    if device:
        log.symlink_to("/dev/zero")
    else:
        log.touch()
        os.truncate(log, 1 << 41)
        with log.open("ab") as stream:
            stream.write(b"no root")
    told = "is a device, not a file" if device else "no root"
    with pytest.raises(VasError, match=f"(?s)ended before its agent answered.*{told}$"):
        GuestHost().await_agent(replace(desired, settings=settings), 5)


def test_one_that_is_about_to_end_is_not_taken_for_started(
    desired: DesiredGuest, libvirt: Libvirt
) -> None:
    libvirt.add(desired.uuid, desired.guest.name, "in shutdown")
    GuestHost().start(desired)
    assert libvirt.machines[desired.uuid][1] == "running"
