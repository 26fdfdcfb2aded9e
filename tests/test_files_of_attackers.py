"""Files that an attacker prepared, met by the commands that read users' files.

The right answer is the same for nearly all of them: one line that names the planted path, status 2,
nothing changed, nothing of another user printed, within 4 GiB and a minute.
"""

from __future__ import annotations

import os
import socket
import tarfile
from pathlib import Path

import pytest

from vas_tests.adversary.attack import Attack, check
from vas_tests.adversary.planted import (
    EXAMPLE,
    SECRET,
    TERABYTE,
    XML_BOMB,
    XML_THIEF,
    YAML_BOMB,
    Plant,
    add,
    fifo,
    folder,
    jar,
    link,
    sparse,
    tar,
    text,
    tree,
)

pytestmark = [pytest.mark.machine, pytest.mark.slow, pytest.mark.nightly]

MAP = ["cluster", "check", "FILE"]
PLAN = ["bench", "run", "FILE", "--dry-run"]
USL = ["bench", "usl", "FILE"]
STATS = ["bench", "stats", "FILE"]
REPORT = ["bench", "report", "FILE"]
DECODE = ["layout", "decode", "FILE"]
SHOW = ["affinity", "show", "--from", "FILE"]
LINKS = ["route", "plan", "--cluster", str(EXAMPLE), "--node", "vm1", "--links", "FILE"]
LINT = ["lint", "FILE"]
SUBMIT = ["submit", "--dry-run", "FILE", "in", "out"]
ONLINE = "sys/devices/system/cpu/online"

HERE = ("planted",)
# What an archive with an absolute name would write; nobody else has made it.
ESCAPED = Path(f"/tmp/vas-adversary-escaped-{os.getpid()}")


def _online(target: str) -> Plant:
    def build(root: Path) -> None:
        (root / ONLINE).unlink()
        (root / ONLINE).symlink_to(target)

    return tree(SHOW, build)


def _loop(root: Path) -> None:
    (root / ONLINE).unlink()
    os.symlink("possible", root / ONLINE)
    os.symlink("online", root / "sys/devices/system/cpu/possible")


def _huge(root: Path) -> None:
    with (root / ONLINE).open("wb") as file:
        file.truncate(TERABYTE)


def _pipe(root: Path) -> None:
    (root / ONLINE).unlink()
    os.mkfifo(root / ONLINE)


def _socket(directory: Path) -> list[str]:
    server = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(directory)  # a socket's address has 108 bytes
    try:
        server.bind("planted")
    finally:
        os.chdir(here)
        server.close()
    return [word.replace("FILE", str(directory / "planted")) for word in MAP]


def _tar_link(target: str) -> Plant:
    def fill(archive: tarfile.TarFile) -> None:
        add(archive, "sys/devices/system/cpu/present", type=tarfile.SYMTYPE, linkname=target)

    return tar(SHOW, fill)


def _escape(archive: tarfile.TarFile) -> None:
    add(archive, "../../escaped", b"x")


def _absolute(archive: tarfile.TarFile) -> None:
    add(archive, str(ESCAPED), b"x")


def _device(archive: tarfile.TarFile) -> None:
    add(archive, "sys/x", type=tarfile.CHRTYPE, devmajor=1, devminor=5)


def _thief(directory: Path) -> list[str]:
    (directory / "secret").write_text(SECRET)
    plant = text(SHOW, XML_THIEF.replace("{secret}", str(directory / "secret")), "planted.xml")
    return plant(directory)


ATTACKS = [
    # A site's map.
    Attack("map_yaml_bomb", text(MAP, YAML_BOMB), 2, HERE),
    Attack("map_of_a_terabyte", sparse(MAP), 2, HERE),
    Attack("map_that_is_a_pipe", fifo(MAP), 2, HERE),
    Attack("map_that_is_a_socket", _socket, 2, HERE),
    Attack("map_that_is_a_directory", folder(MAP), 2, HERE),
    Attack("map_that_is_a_device", link(MAP, "/dev/zero"), 2, HERE),
    Attack("map_that_is_a_link_loop", link(MAP, "planted"), 2, HERE),
    Attack("map_with_python_objects", text(MAP, "!!python/object/apply:os.system [id]\n"), 2, HERE),
    Attack("map_that_is_no_utf8", text(MAP, b"\xff\xfe\x00"), 2, HERE),
    Attack("map_with_a_tab", text(MAP, "site:\n\tname: x\n"), 2, HERE),
    Attack("map_nested_deeply", text(MAP, "[" * 100_000), 2, HERE),
    Attack("map_with_a_key_twice", text(MAP, "version: 1\nversion: 2\n"), 2, HERE),
    Attack(
        "map_with_a_shell_in_a_name",
        text(MAP, EXAMPLE.read_text().replace("name: oss01.hpc.example", "name: '$(reboot)'")),
        2,
        HERE,
        lines=20,
    ),
    Attack(
        "map_with_an_escape_sequence_in_a_name",
        text(MAP, EXAMPLE.read_text().replace("name: oss01.hpc.example", 'name: "oss\\e[2J1"')),
        2,
        HERE,
        silent=("\x1b",),
        lines=20,
    ),
    # Plans, results and figures of benchmarks.
    Attack("plan_yaml_bomb", text(PLAN, YAML_BOMB), 2, HERE),
    Attack("plan_of_a_terabyte", sparse(PLAN), 2, HERE),
    Attack(
        "plan_that_is_a_pipe", fifo(PLAN), 2, HERE, lines=3
    ),  # a line for each key that it lacks
    Attack("figures_of_a_terabyte", sparse(USL, name="planted.csv"), 2, HERE),
    Attack("figures_that_are_a_pipe", fifo(USL, name="planted.csv"), 2, HERE),
    Attack("figures_not_finite", text(USL, "p,throughput\n1,inf\n2,nan\n"), 2, HERE),
    Attack(
        "figures_of_a_million_digits", text(USL, f"p,throughput\n1,{'9' * 1_000_000}\n"), 2, HERE
    ),
    Attack("results_of_a_terabyte", sparse(REPORT, name="planted.jsonl"), 2, HERE),
    Attack("results_nested_deeply", text(STATS, "[" * 200_000, "planted.jsonl"), 2, HERE),
    # Layouts.
    Attack("layout_that_is_a_device", link(DECODE, "/dev/zero"), 2, HERE),
    Attack("layout_of_a_terabyte", sparse(DECODE), 2, HERE),
    Attack("layout_that_is_a_pipe", fifo(DECODE), 2, HERE),
    Attack("layout_of_noise", text(DECODE, bytes(range(256)) * 40), 2, HERE),
    Attack(
        "layout_that_claims_millions_of_objects",
        text(DECODE, bytes.fromhex("d00bd10b" + "01000000" + "00" * 20 + "00001000ffff0000")),
        2,
        HERE,
    ),
    # Captured machines: their links are followed as if the capture were `/`.
    Attack("capture_with_a_link_to_a_device", _online("/dev/zero"), 0, ()),
    Attack("capture_with_a_link_out", _online("../../../../../secret"), 0, (), (SECRET,)),
    Attack("capture_with_an_absolute_link", _online("/etc/passwd"), 0, (), ("root:",)),
    Attack("capture_with_a_link_loop", tree(SHOW, _loop), 2, HERE),
    Attack("capture_with_a_file_of_a_terabyte", tree(SHOW, _huge), 2, (ONLINE,)),
    Attack("capture_with_a_pipe", tree(SHOW, _pipe), 2, (ONLINE,)),
    Attack("archive_with_dots", tar(SHOW, _escape), 2, HERE),
    Attack("archive_with_an_absolute_name", tar(SHOW, _absolute), 2, HERE),
    Attack("archive_with_a_device", tar(SHOW, _device), 2, HERE),
    Attack("archive_with_a_link_out", _tar_link("/etc/passwd"), 2, HERE, ("root:",)),
    Attack("archive_of_noise", text(SHOW, os.urandom(4096), "planted.tar"), 2, HERE),
    Attack("xml_bomb", text(SHOW, XML_BOMB, "planted.xml"), 2, HERE),
    Attack("xml_that_reads_a_file", _thief, 2, HERE, (SECRET,)),
    # What jobs bring.
    Attack("job_xml_bomb", text(LINT, XML_BOMB.replace("topology", "configuration")), 2, HERE),
    Attack("job_xml_of_a_terabyte", sparse(LINT), 2, HERE),
    Attack("job_xml_that_is_a_pipe", fifo(LINT), 2, HERE),
    Attack("jar_that_is_a_pipe", fifo(SUBMIT), 2, HERE),
    Attack("jar_of_a_terabyte", sparse(SUBMIT), 2, HERE),
    Attack("jar_whose_manifest_is_a_bomb", jar(SUBMIT, " " * (1 << 30)), 2, HERE),
    # The state of paths.
    Attack("links_json_nested_deeply", text(LINKS, "[" * 200_000), 2, HERE),
    Attack("links_that_are_a_device", link(LINKS, "/dev/zero"), 2, HERE),
]


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.name for attack in ATTACKS])
def test_a_file_of_an_attacker_is_one_line(attack: Attack, tmp_path: Path) -> None:
    check(attack, tmp_path)
    assert not ESCAPED.exists()
    assert not (tmp_path.parent / "escaped").exists()


def test_there_are_at_least_forty_cases() -> None:
    assert len(ATTACKS) >= 40
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
