"""Sources of machines: a wrong one is refused in one line; what cannot be read is noted."""

from __future__ import annotations

import io
import json
import os
import tarfile
import time
from pathlib import Path

import pytest
from host_trees import CPU, cpus, write
from hypothesis import given
from hypothesis import strategies as st

from vas_affinity.machine.reading import read_snapshot, read_source
from vas_affinity.machine.reading.kinds import efficiencies
from vas_core.cli import run_command
from vas_core.errors import BadInput, ExitStatus
from vas_core.root import Root

MACHINES = Path(__file__).parent / "machines"
BOMB = """<?xml version="1.0"?>
<!DOCTYPE topology [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>
<topology version="2.0">&b;</topology>
"""
BAD = {
    "empty": b"",
    "binary": bytes(range(256)) * 4,
    "text": b"hello\n",
    "other.xml": b"<domain/>",
    "none.xml": b'<topology version="2.0"/>',
    "half.xml": b'<topology><object type="Machine">',
    "bomb.xml": BOMB.encode(),
    "words.xml": b'<topology><object type="PU" os_index="zero" cpuset="0x1"/></topology>',
    "mask.xml": b'<topology><object type="PU" os_index="0" cpuset="0xzz"/></topology>',
    "huge.xml": b'<topology><object type="PU" os_index="0" cpuset="0x1' + b",0x0" * 9999 + b'"/>'
    b"</topology>",
    "broken.tar.bz2": (MACHINES / "8em64t-2s4c-asymcaches.tar.bz2").read_bytes()[:3000],
    "other.json": b'{"hosts": []}',
    "half.json": b'{"host": ',
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_machine(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.write_bytes(BAD[name])
    assert run_command(["affinity", "show", "--from", str(path)]) == ExitStatus.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"vas: {path}: ") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("cpus", "said"),
    [
        ([], "it has no CPU that is online"),
        ([{"online": False}], "it has no CPU that is online"),
        ([{}, {}], "it has a CPU twice"),
        ([{"core": 10**12}], "CPU 0 is in a group of CPU 1000000000000, which is not there"),
    ],
)
def test_a_snapshot_of_what_no_machine_is(
    cpus: list[dict[str, int]], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "oss1.json"
    cpu = {"number": 0, "package": 0, "die": 0, "node": 0, "l3": 0, "l2": 0, "core": 0}
    topology = {"name": "oss1", "cpus": [cpu | changes for changes in cpus]}
    path.write_text(json.dumps({"host": "oss1", "topology": topology}))
    with pytest.raises(BadInput, match=f"is not a snapshot: {said}"):
        read_source(path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vcpus", "4", "--memory", "0"], "'0' is less than 1 MiB"),
        (["--vcpus", "1025"], "is not between 1 and 1024"),
        (["--vcpus", "4", "--oss-share", "nan"], "nan is not a number"),
        (["--vcpus", "4", "--cluster", "c.yaml"], "leave --vcpus out"),
        (["--budget", "nan"], "nan is not a number"),
        (["--cpus", "a"], "--cpus: is not a CPU list: 'a'"),
        (["--cpus", ","], "--cpus: has no CPU in it"),
    ],
)
def test_an_option_of_plan_that_cannot_be_meant(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "oss1.json"
    cpu = {"number": 0, "package": 0, "die": 0, "node": 0, "l3": 0, "l2": 0, "core": 0}
    thread = {"tid": 1, "pid": 1, "key": "a/b/0", "name": "b", "role": "service"}
    topology = {"name": "oss1", "cpus": [cpu]}
    path.write_text(json.dumps({"host": "oss1", "topology": topology, "threads": [thread]}))
    assert run_command(["affinity", "plan", "--from", str(path), *words]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_an_empty_directory_and_nothing_at_all(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(BadInput, match=str(path)):
            read_source(path)


def archive(path: Path, files: dict[str, str], links: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
        for name, target in links.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return path


def test_an_archive_is_what_its_directory_is(tmp_path: Path) -> None:
    pci = "sys/devices/pci0000:00/0000:01:00.0"
    files = cpus(3) | {f"{pci}/class": "0x010802\n", f"{pci}/local_cpulist": "1\n"}
    links = {"sys/bus/pci/devices/0000:01:00.0": f"../../../../{pci}"}
    tree = read_source(write(tmp_path / "host", files, links))
    assert [device.cpus for device in tree.devices] == [(1,)]
    for top in ("", "./", "a/b/"):
        named = {f"{top}{name}": text for name, text in files.items()}
        path = archive(tmp_path / "host.tar.gz", named, {f"{top}{n}": t for n, t in links.items()})
        assert read_source(path) == tree


def test_a_name_of_any_length_in_an_archive_is_passed_over(tmp_path: Path) -> None:
    """An expression looked for the directories in it: 300 KB took 7 s, twice that four times so."""
    names = {"sys/devices/.a/" * 40_000: "", **cpus(1)}
    began = time.monotonic()
    assert read_source(archive(tmp_path / "host.tar", names, {})).devices == ()
    assert time.monotonic() - began < 10


def test_links_of_an_archive_lead_nowhere_else(tmp_path: Path) -> None:
    links = {"sys/bus/pci/devices/0000:01:00.0": "/etc", "sys/class/net/a": "b"}
    links |= {"sys/class/net/b": "a", "sys/bus/pci/devices/0000:02:00.0": "../" * 30 + "etc"}
    found = read_source(archive(tmp_path / "host.tar", cpus(1), links))
    assert found.devices == ()


def test_O7_links_of_a_directory_lead_nowhere_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tree that was captured on another machine says nothing of this one."""
    write(tmp_path / "other", cpus(7))
    (tmp_path / "captures").mkdir()
    (tmp_path / "captures/host").symlink_to(tmp_path / "other")
    (tmp_path / "captures/root").symlink_to("/")
    with pytest.raises(BadInput, match="is not a captured tree"):
        read_source(tmp_path / "captures")
    tree = write(tmp_path / "host", cpus(2))
    (tree / CPU / "online").unlink()
    (tree / CPU / "online").symlink_to(tmp_path / "other" / CPU / "online")
    assert len(read_source(tree).topology.cpus) == 2
    (tree / CPU / "online").unlink()
    (tree / CPU / "online").symlink_to("online")
    assert run_command(["affinity", "show", "--from", str(tree)]) == 2
    assert capsys.readouterr().err == (
        f"vas: {tree}/{CPU}/online: symbolic links lead in a circle\n"
    )


@pytest.mark.timeout(30)
def test_O7_a_tree_with_a_file_without_an_end_is_refused(tmp_path: Path) -> None:
    tree = write(tmp_path / "host", cpus(2))
    (tree / "proc/meminfo").unlink()
    (tree / "proc/meminfo").symlink_to("/dev/zero")
    assert len(read_source(tree).topology.cpus) == 2
    (tree / "proc/meminfo").unlink()
    (tree / "proc/meminfo").touch()
    os.truncate(tree / "proc/meminfo", 1 << 41)
    with pytest.raises(BadInput, match="proc/meminfo: is larger than 32 MiB"):
        read_source(tree)


def test_an_archive_without_a_tree(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a captured tree"):
        read_source(archive(tmp_path / "host.tar", {"etc/passwd": "x"}, {}))


def test_no_file_is_hidden_that_cannot_be_read(tmp_path: Path) -> None:
    host = write(tmp_path, cpus(2) | {f"{CPU}/isolated": "1-\n"})
    (host / f"{CPU}/cpu0/online").mkdir()
    (host / f"{CPU}/online").unlink()
    found = read_snapshot(Root(host), name="host")
    noted = {unread.what: unread.why for unread in found.unread}
    assert noted[f"{CPU}/isolated"] == "is not a CPU list: '1-'"
    assert noted[f"{CPU}/cpu0/online"] == "Is a directory"


def test_a_kernel_without_numa_has_one_node(tmp_path: Path) -> None:
    topology = read_snapshot(Root(write(tmp_path, cpus(2))), name="host").topology
    (node,) = topology.nodes
    assert (node.number, node.memory_bytes, node.distances) == (0, 4 << 30, {0: 10})
    assert {cpu.node for cpu in topology.cpus} == {0}


def test_isolated_cpus(tmp_path: Path) -> None:
    host = write(tmp_path, cpus(4) | {f"{CPU}/isolated": "2-3\n"})
    cpus_of = read_snapshot(Root(host), name="host").topology.cpus
    assert [cpu.number for cpu in cpus_of if cpu.isolated] == [2, 3]


@pytest.mark.parametrize(
    ("files", "kinds"),
    [
        ({f"{CPU}/cpu0/cpu_capacity": "446", f"{CPU}/cpu1/cpu_capacity": "1024"}, [0, 1]),
        ({"sys/devices/cpu_core/cpus": "0", "sys/devices/cpu_atom/cpus": "1"}, [1, 0]),
        (
            {
                f"{CPU}/cpu0/cpufreq/cpuinfo_max_freq": "5200000",
                f"{CPU}/cpu1/cpufreq/cpuinfo_max_freq": "5000000",
            },
            [None, None],
        ),
    ],
)
def test_kinds_of_cores(files: dict[str, str], kinds: list[int | None], tmp_path: Path) -> None:
    topology = read_snapshot(Root(write(tmp_path, cpus(2) | files)), name="host").topology
    assert [cpu.efficiency for cpu in topology.cpus] == kinds


@given(st.dictionaries(st.integers(0, 63), st.integers(1, 10_000_000), max_size=20))
def test_a_faster_cpu_is_never_of_a_slower_kind(speeds: dict[int, int]) -> None:
    kinds = efficiencies(speeds)
    ordered = [kinds[cpu] for cpu in sorted(kinds, key=lambda cpu: speeds[cpu])]
    assert ordered == sorted(ordered)
    assert sorted(set(ordered)) == list(range(len(set(ordered))))
    assert len(set(ordered)) != 1


def test_version_1_of_the_format(tmp_path: Path) -> None:
    path = tmp_path / "old.xml"
    path.write_text(
        '<topology><object type="Machine" cpuset="0x3" complete_cpuset="0x7">'
        '<object type="NUMANode" os_index="1" cpuset="0x3" local_memory="4096">'
        '<object type="Socket" cpuset="0x3"><object type="Cache" depth="2" cpuset="0x3">'
        '<object type="Core" cpuset="0x1"><object type="PU" os_index="0" cpuset="0x1"/></object>'
        '<object type="Core" cpuset="0x2"><object type="PU" os_index="1" cpuset="0x2"/></object>'
        "</object></object></object></object></topology>"
    )
    one, two, off = read_source(path).topology.cpus
    assert (two.package, two.l3, two.l2, two.core, two.node) == (0, 0, 0, 1, 1)
    assert one.online and not off.online and off.package == 2


@pytest.mark.parametrize("name", ["24em64t-2n6c2t-pci.xml", "16em64t-4s2c2t-offlines.tar.bz2"])
def test_show(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(MACHINES / name)
    assert run_command(["affinity", "show", "--from", path, "--json"]) == ExitStatus.DONE
    data = json.loads(capsys.readouterr().out)
    assert read_source(MACHINES / name).model_dump(mode="json") == data
    assert run_command(["affinity", "show", "--from", path]) == ExitStatus.DONE
    text = capsys.readouterr().out
    first, *lines = text.splitlines()
    assert first.startswith(f"{data['host']}: ")
    for unread in data["unread"]:
        assert any(line.startswith(unread["what"]) for line in lines)
    for device in data["devices"]:
        assert any(line.startswith(device["name"]) for line in lines)


def test_a_captured_machine_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(MACHINES / "24em64t-2n6c2t-pci.xml")
    status = run_command(["affinity", "show", "--from", path, "--process", "java"])
    assert status == ExitStatus.BAD_INPUT
    assert "runs nothing" in capsys.readouterr().err
