"""Booting an image: the command line, the seed and the verdict, without a machine."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml

from vas_core.cli import run_command
from vas_core.errors import NotHere, VasError
from vas_core.root import Root
from vas_image.check import examiner, run
from vas_image.check.check import TIMEOUT_SECONDS
from vas_image.check.firmware import FIRMWARES, Firmware, find_firmware
from vas_image.check.machine import QemuBoot, qemu_argv
from vas_image.check.run import BootStart, plain
from vas_image.check.run import boot as boot_image
from vas_image.check.seed import check_seed, site
from vas_image.check.verdict import ImageVerdict, judge
from vas_image.definition import System
from vas_image.image import Image

IMAGE = Image(
    system=System.DEBIAN_12,
    builder="quick",
    source_date_epoch=0,
    mirror=None,
    kernel_command_line="console=ttyS0",
    boots_by_itself=False,
    virtual_bytes=1 << 31,
    packages=1,
    jars=1,
)
GOOD = ImageVerdict(
    state="running",
    node={"nodeHealthy": True, "hadoopVersion": "3.5.0"},
    hostname="vas-check",
    machine_id="0" * 32,
    cloud_init="done",
    seed="Valid cloud-config: system userdata",
    addresses=["lo UNKNOWN 127.0.0.1/8", "vf0 UP 192.0.2.21/24"],
    routed="Usage: vas-routed [OPTIONS]",
    classes="/var/lib/vas/cds/hadoop.jsa: fits; JDK 17.0.15+6, 194 jars",
)


def boot(*, kvm: bool = False, firmware: Firmware | None = None) -> QemuBoot:
    work = Path("/tmp/a,1")
    macs = ("m1", "m2")
    seed = work / "seed.iso"
    return QemuBoot(Path("/image"), IMAGE, seed, macs, work, kvm=kvm, firmware=firmware)


@pytest.mark.parametrize("firmware", [None, FIRMWARES[0]])
def test_no_nic_leads_anywhere_and_no_disk_is_written_to(firmware: Firmware | None) -> None:
    argv = qemu_argv(boot(firmware=firmware))
    backends = [argv[i + 1] for i, word in enumerate(argv) if word == "-netdev"]
    assert [backend.partition(",")[0] for backend in backends] == ["hubport"] * 4
    drives = [argv[i + 1] for i, word in enumerate(argv) if word == "-drive"]
    assert all("snapshot=on" in drive or "readonly=on" in drive for drive in drives)
    assert "file=/tmp/a,,1/seed.iso" in drives[-1]
    assert ("-kernel" in argv) is (firmware is None)


def test_firmware_is_taken_with_its_variables(tmp_path: Path) -> None:
    with pytest.raises(NotHere, match="--direct"):
        find_firmware(Root(tmp_path))
    for one in reversed(FIRMWARES):
        for file in (one.code, one.variables):
            with pytest.raises(NotHere) if one is FIRMWARES[-1] else nullcontext():
                find_firmware(Root(tmp_path))
            here = tmp_path / str(file).lstrip("/")
            here.parent.mkdir(parents=True, exist_ok=True)
            here.touch()
        assert find_firmware(Root(tmp_path)) is one


def test_kvm_is_used_only_when_asked_for() -> None:
    assert "kvm" not in qemu_argv(boot())
    assert "kvm" in qemu_argv(boot(kvm=True))


def test_the_seed_is_a_guests_own_with_the_examiner() -> None:
    found = yaml.safe_load(check_seed(kvm=False)["user-data"])
    written = {one["path"]: one["content"] for one in found["write_files"]}
    compile(written["/run/vas-check.py"], "examiner", "exec")
    assert "org.vas.filesystem.LustreFileSystem" in written["/etc/vas/hadoop/yarn-site.xml"]
    assert "/etc/vas/cluster.yaml" in written


def broken(verdict: ImageVerdict, *, agent: bool = True, off: bool = True) -> list[str]:
    rules = judge(verdict, site()[1], agent=agent, off=off)
    return [rule.name for rule in rules if not rule.ok]


def test_a_good_verdict_is_good() -> None:
    assert broken(GOOD) == []
    assert broken(GOOD, agent=False) == ["the guest agent answers"]
    assert broken(GOOD, off=False) == ["it turns itself off"]


@pytest.mark.parametrize(
    ("update", "rule"),
    [
        ({"state": "degraded", "failed": ["x.service"]}, "the system runs"),
        ({"cloud_init": "error"}, "cloud-init read the seed"),
        ({"seed": ""}, "cloud-init's schema takes the seed"),
        ({"hostname": "localhost"}, "it has the seed's name"),
        ({"machine_id": ""}, "it has a machine-id of its own"),
        ({"addresses": ["vf0 UP 192.0.2.210/24"]}, "it has the seed's address"),
        ({"node": {"why": "refused"}}, "the NodeManager is healthy"),
        ({"node": {"nodeHealthy": False}}, "the NodeManager is healthy"),
        ({"routed": "not found"}, "VAS's programs start"),
    ],
)
def test_each_part_counts(update: dict[str, object], rule: str) -> None:
    assert broken(GOOD.model_copy(update=update)) == [rule]


def test_the_examiner_has_time_to_say_what_it_waits_for_in_vain() -> None:
    assert TIMEOUT_SECONDS > examiner.BOOT_SECONDS + examiner.NODE_SECONDS


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A directory with what an image that boots by itself is described by."""
    directory = tmp_path / "image"
    directory.mkdir()
    about = IMAGE.model_copy(update={"boots_by_itself": True})
    (directory / "image.json").write_text(about.model_dump_json())
    return directory


def in_place_of_qemu(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A shell script is started where QEMU would be, with the files that it would write."""
    program = ["sh", "-c", script, "sh"]

    def argv(given: QemuBoot) -> list[str]:
        return [*program, str(given.console), str(given.verdict)]

    monkeypatch.setattr(run, "qemu_argv", argv)
    monkeypatch.setattr(run, "find_qemu", lambda: "qemu")


@pytest.mark.unhurried
@pytest.mark.machine
@pytest.mark.parametrize(
    ("script", "why"),
    [
        ('echo Kernel panic >"$1"', "ended without a verdict; console:\nKernel panic"),
        ('echo no init >"$1"; exit 1', "(?s)exit status 1.*console:\nno init"),
        ('echo emergency >"$1"; exec sleep 60', "(?s)no end after 1 s.*console:\nemergency"),
        ('echo gone >"$1"; echo "{" >"$2"', "look at the console"),
    ],
)
def test_without_a_verdict_the_consoles_end_is_shown(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    in_place_of_qemu(monkeypatch, script)
    with pytest.raises(VasError) as raised:
        boot_image(BootStart(image, direct=True), tmp_path, timeout_seconds=1)
    assert re.search(why, str(raised.value))


@pytest.mark.unhurried
@pytest.mark.machine
def test_the_command_tells_what_is_broken_and_how_it_ended(
    image: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = GOOD.model_copy(update={"failed": ["x.service"], "state": "degraded"})
    said = shlex.quote(found.model_dump_json())
    in_place_of_qemu(monkeypatch, f'echo x failed >"$1"; echo {said} >"$2"; exec sleep 60')
    words = ["image", "check", str(image), "--direct", "--timeout", "10"]
    assert run_command(words) == 3
    told = capsys.readouterr()
    assert "--  the system runs" in told.out and "degraded, x.service" in told.out
    assert "--  it turns itself off" in told.out
    assert "console:\nx failed" in told.err
    in_place_of_qemu(monkeypatch, f'echo {said} >"$2"')
    assert run_command([*words, "--json"]) == 3
    rules = {one["name"]: one["ok"] for one in json.loads(capsys.readouterr().out)["rules"]}
    assert not rules["the system runs"] and rules["it turns itself off"]


def test_a_console_is_shown_without_what_a_terminal_makes_of_it() -> None:
    text = (
        "\x1b[2J\x1b[01;01H[\x1b[0;32m  OK  \x1b[0m] Started \x1b[0;1;39mx\x1b[0m.\r\n\r\n"
        "\r\x1b[K[\x1b[0;31m*\x1b[0m     ] Job y/start running (4s / 1min)\r[ 1.0] Power down\n"
    )
    assert plain(text) == "[  OK  ] Started x.\n[ 1.0] Power down"


def test_a_dry_run_says_how_it_would_boot(
    image: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "find_qemu", lambda: "qemu")
    monkeypatch.setattr(run, "find_firmware", lambda _root: FIRMWARES[0])
    assert run_command(["image", "check", str(image), "--dry-run"]) == 0
    assert str(FIRMWARES[0].code) in capsys.readouterr().out
    assert run_command(["image", "check", str(image), "--dry-run", "--direct"]) == 0
    assert "-kernel" in capsys.readouterr().out
