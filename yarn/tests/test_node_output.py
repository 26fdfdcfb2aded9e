"""`vas shuffle ls|inspect|verify --local`: stock's map output on a node's own disks."""

from __future__ import annotations

import json
import os
import shutil
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_core.cli import run_command
from vas_yarn.shuffle import node_output
from vas_yarn.shuffle.node_output import NodeSegment, parse_index
from vas_yarn.shuffle.wire import Damaged

JOB = "job_1700000000000_0001"
SIZES = [100, 0, 5_000_000]


def attempt_of(number: int) -> str:
    return f"attempt_1700000000000_0001_m_{number:06d}_0"


def output(local: Path, number: int) -> Path:
    app = local / "usercache/ann/appcache" / JOB.replace("job", "application")
    return app / "output" / attempt_of(number)


def index_of(segments: list[NodeSegment]) -> bytes:
    body = b"".join(struct.pack(">3q", s.start, s.raw_bytes, s.stored_bytes) for s in segments)
    return body + struct.pack(">q", zlib.crc32(body))


def write(data: Path, index: Path, number: int) -> None:
    """Writes a map's output, its file and its index on two disks, or on one."""
    content, segments = b"", []
    for size in SIZES:
        body = bytes([number]) * size + b"\xff\xff"
        segment = body + struct.pack(">I", zlib.crc32(body))
        segments.append(NodeSegment(len(content), len(body), len(segment)))
        content += segment
    for directory in (data, index):
        output(directory, number).mkdir(parents=True, exist_ok=True)
    (output(data, number) / "file.out").write_bytes(content)
    (output(index, number) / "file.out.index").write_bytes(index_of(segments))


@pytest.fixture
def disks(tmp_path: Path) -> list[Path]:
    """Two disks with the output of two maps; one map's index lies on the other disk."""
    one, two = tmp_path / "1", tmp_path / "2"
    write(one, one, 0)
    write(one, two, 1)
    (output(two, 0).parent / "attempt_1700000000000_0001_r_000000_0").mkdir()
    return [one, two]


def read(
    disks: list[Path], capsys: pytest.CaptureFixture[str], command: str, *more: str
) -> tuple[int, object]:
    local = [word for disk in disks for word in ("--local", str(disk))]
    status = run_command(["shuffle", command, JOB, *local, *more, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_what_lies_there_is_listed(disks: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    status, rows = read(disks, capsys, "ls")
    assert isinstance(rows, list)
    assert status == 0
    stored = sum(SIZES) + len(SIZES) * 6
    assert [(r["attempt"], r["state"], r["partitions"], r["stored_bytes"]) for r in rows] == [
        (attempt_of(number), "written", 3, stored) for number in (0, 1)
    ]
    status, rows = read(disks, capsys, "inspect")
    assert rows == [
        {"partition": n, "maps": 2, "raw_bytes": 2 * (s + 2), "stored_bytes": 2 * (s + 6)}
        for n, s in enumerate(SIZES)
    ]
    assert read(disks, capsys, "verify") == (0, {"published": 2, "damage": []})


def test_people_are_told_what_is_not_seen(
    disks: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["shuffle", "ls", JOB, "--local", str(disks[0]), "--local", str(disks[1])]
    assert run_command(argv) == 0
    printed = capsys.readouterr()
    assert "4.8 MiB" in printed.out
    assert "only the maps that ran on this node are seen" in printed.err


def test_a_flipped_bit_is_found(disks: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    file = output(disks[0], 1) / "file.out"
    content = bytearray(file.read_bytes())
    content[3_000_000] ^= 4
    file.write_bytes(content)
    status, found = read(disks, capsys, "verify")
    assert status == 3
    assert isinstance(found, dict)
    (damage,) = found["damage"]
    assert (damage["attempt"], damage["partition"]) == (attempt_of(1), 2)
    assert damage["what"] == "wrong checksum (or encrypted: say --encrypted)"
    assert read(disks, capsys, "verify", "--encrypted")[0] == 0


def test_what_is_missing_is_said(disks: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    (output(disks[1], 1) / "file.out.index").unlink()
    status, rows = read(disks, capsys, "ls")
    assert isinstance(rows, list)
    assert (status, rows[1]["damage"]) == (3, "file.out.index is missing")
    file = output(disks[0], 0) / "file.out"
    file.write_bytes(file.read_bytes()[:-1])
    status, found = read(disks, capsys, "verify", "--encrypted")
    assert isinstance(found, dict)
    assert status == 3
    assert found["damage"][0]["what"] == "file.out.index: names bytes that file.out does not have"


def test_an_index_that_its_disk_cannot_read_is_damage(
    disks: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(path: Path) -> int:
        # The kernel answers a read of address 0 as it does one of a bad block.
        return (
            os.open("/proc/self/mem", os.O_RDONLY) if path.suffix == ".index" else os.open(path, 0)
        )

    monkeypatch.setattr(node_output, "open_regular", opened)
    status, rows = read(disks, capsys, "ls")
    assert isinstance(rows, list)
    assert (status, rows[0]["damage"]) == (3, "file.out.index: Input/output error")


def test_a_job_that_is_not_there(disks: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["shuffle", "ls", "job_1700000000000_0002", "--local", str(disks[0])]
    assert run_command(argv) == 2
    assert "no map output of job_1700000000000_0002 on this node" in capsys.readouterr().err
    assert run_command([*argv, "--staging", str(disks[0])]) == 2
    assert run_command(["shuffle", "ls", JOB, "--staging", str(disks[0])]) == 2
    assert "give --local there" in capsys.readouterr().err


def test_links_are_not_followed(disks: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    there = output(disks[0], 0)
    there.rename(there.parent / "elsewhere")
    there.symlink_to("elsewhere")
    _, rows = read(disks, capsys, "ls")
    assert isinstance(rows, list)
    assert [row["attempt"] for row in rows] == [attempt_of(1)]
    file = output(disks[0], 1) / "file.out"
    file.rename(file.with_name("kept"))
    file.symlink_to("kept")
    _, rows = read(disks, capsys, "ls")
    assert isinstance(rows, list)
    assert rows[0]["damage"] == "file.out: a symbolic link"


def test_S4_another_user_hides_no_damage(
    disks: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    app = output(disks[0], 1).parents[1]
    forged = disks[0] / "usercache/aaron/appcache" / app.name
    shutil.copytree(app, forged)
    damaged = output(disks[0], 1) / "file.out"
    damaged.write_bytes(bytes(damaged.stat().st_size))
    argv = ["shuffle", "verify", JOB, "--local", str(disks[0]), "--local", str(disks[1])]
    assert run_command(argv) == 2
    assert f"users aaron, ann have map output of {JOB} here" in capsys.readouterr().err
    shutil.rmtree(forged)
    assert run_command(argv) == 3


def test_O7_bytes_that_two_partitions_share_are_read_for_none() -> None:
    many = [NodeSegment(0, 100, 100)] * 1000
    with pytest.raises(Damaged, match=r"gives the same bytes of .* to several partitions"):
        parse_index(index_of(many), 100)


@given(
    sizes=st.lists(st.integers(0, 1 << 40), min_size=1, max_size=20),
    at=st.integers(0),
    bit=st.integers(0, 7),
)
def test_an_index_is_read_back_or_refused(sizes: list[int], at: int, bit: int) -> None:
    segments, start = [], 0
    for size in sizes:
        segments.append(NodeSegment(start, 2 * size, size))
        start += size
    data = bytearray(index_of(segments))
    assert parse_index(bytes(data), start) == tuple(segments)
    if start:
        with pytest.raises(Damaged):
            parse_index(bytes(data), start - 1)
    data[at % len(data)] ^= 1 << bit
    with pytest.raises(Damaged):
        parse_index(bytes(data), start)
    with pytest.raises(Damaged):
        parse_index(bytes(data[:-1]), start)
