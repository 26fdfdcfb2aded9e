"""`vas shuffle ls`, `inspect` and `verify` over map output on disk."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import google_crc32c
import pytest
from map_output import JOB, attempt_name, publish

from vas_core.cli import run_command

SIZES = [100, 0, 200_000]


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    """Map output of a job that ran while the site was upgraded: both versions of manifests."""
    job = tmp_path / "ann" / ".staging" / JOB
    publish(job, 0, SIZES, version=1)
    publish(job, 1, SIZES)
    publish(job, 1, SIZES, number=1)
    (job / "shuffle" / attempt_name(2)).mkdir()
    (job / "shuffle" / attempt_name(0).replace("_m_", "_r_")).mkdir()
    return tmp_path


def read(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, object]:
    status = run_command(["shuffle", *arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def mof(staging: Path) -> Path:
    return staging / "ann/.staging" / JOB / "shuffle" / attempt_name(1) / "packed.mof"


def test_ls_lists_every_map_attempt(staging: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, rows = read(capsys, "ls", JOB, "--staging", str(staging))
    assert isinstance(rows, list)
    assert status == 0
    assert [row["state"] for row in rows] == ["published"] * 3 + ["unpublished"]
    assert rows[0]["stored_bytes"] == sum(SIZES)
    assert run_command(["shuffle", "ls", str(staging / "ann/.staging" / JOB)]) == 0
    assert "195.4 KiB" in capsys.readouterr().out


def test_a_manifest_that_claims_any_number_of_reducers_is_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sixty bytes, well sealed, and `inspect` made two thousand million rows of them."""
    attempt = publish(tmp_path / JOB, 0, [], version=1)
    body = b"VASM\x01\x00" + b"".join(
        bytes([len(text)]) + text.encode() for text in (attempt.name, "vm1")
    )
    body += b"\x8c\x7f\xff\xff\xff" + b"\x01\x00\x00"
    (attempt / "manifest").write_bytes(body + google_crc32c.value(body).to_bytes(4, "big"))
    for command in ("ls", "inspect"):
        assert run_command(["shuffle", command, str(tmp_path / JOB)]) == 3
    said = "more than 1048576 partitions"
    assert said in capsys.readouterr().out


def test_a_manifest_larger_than_any_job_makes_is_not_decoded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    attempt = publish(tmp_path / JOB, 0, SIZES)
    with (attempt / "manifest").open("r+b") as file:
        file.truncate((128 << 20) + 1)
    assert run_command(["shuffle", "ls", str(tmp_path / JOB)]) == 3
    assert "bytes are too many for a manifest" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["ls", "inspect"])
def test_published_is_not_taken_for_succeeded(
    command: str, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "1 maps have more than one published attempt; reducers read the one that succeeded"
    assert run_command(["shuffle", command, JOB, "--staging", str(staging)]) == 0
    assert said in capsys.readouterr().err
    shutil.rmtree(mof(staging).parent)
    assert run_command(["shuffle", command, JOB, "--staging", str(staging)]) == 0
    assert capsys.readouterr().err == ""


def test_inspect_counts_one_attempt_of_each_map(
    staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, rows = read(
        capsys, "inspect", JOB.replace("job", "application"), "--staging", str(staging)
    )
    assert isinstance(rows, list)
    assert status == 0
    assert [row["stored_bytes"] for row in rows] == [200, 0, 400_000]
    assert [row["maps"] for row in rows] == [2, 0, 2]
    assert [row["skew"] for row in rows] == [0.001, 0.0, 2.999]
    assert run_command(["shuffle", "inspect", JOB, "--staging", str(staging)]) == 0
    assert "390.6 KiB" in capsys.readouterr().out


def test_verify_finds_nothing_in_what_is_whole(
    staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = read(capsys, "verify", JOB, "--staging", str(staging))
    assert (status, found) == (0, {"published": 3, "damage": []})


def test_verify_names_the_block_that_changed(
    staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bytearray(mof(staging).read_bytes())
    data[100 + 70_000] ^= 1
    mof(staging).write_bytes(data)
    status, found = read(capsys, "verify", JOB, "--staging", str(staging))
    assert status == 3
    assert isinstance(found, dict)
    assert found["damage"] == [
        {
            "attempt": attempt_name(1),
            "file": "packed.mof",
            "what": "wrong checksum",
            "offset": 100 + 65536,
            "partition": 2,
        }
    ]


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda file: os.truncate(file, 5), "is 5 bytes long, published were 200100"),
        (lambda file: file.unlink(), "is missing"),
        (lambda file: (file.unlink(), file.symlink_to("/dev/zero")), "a symbolic link"),
        (lambda file: (file.unlink(), os.mkfifo(file)), "not a regular file"),
        (
            lambda file: (file.parent / "manifest").write_bytes(b"VASM"),
            "manifest: wrong checksum over 4 bytes",
        ),
        (
            lambda file: os.truncate(file.parent / "manifest", 1 << 40),
            "manifest: 1099511627776 bytes are too many for a manifest",
        ),
        (
            lambda file: file.parent.rename(file.parent.with_name(attempt_name(7))),
            f"manifest: of another attempt, {attempt_name(1)}",
        ),
    ],
)
def test_verify_names_other_damage(
    damage: object, what: str, staging: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(damage)
    damage(mof(staging))
    status, found = read(capsys, "verify", JOB, "--staging", str(staging))
    assert status == 3
    assert isinstance(found, dict)
    assert [row["what"] for row in found["damage"]] == [what]


@pytest.mark.unhurried
def test_P1_verify_reads_manifests_whole(staging: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Finds every changed byte of a manifest, also one that a single reducer alone would meet."""
    file = mof(staging).parent / "manifest"
    good = file.read_bytes()
    for at in range(0, len(good), 7):
        file.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        status, found = read(capsys, "verify", JOB, "--staging", str(staging))
        assert status == 3
        assert isinstance(found, dict)
        assert [row["file"] for row in found["damage"]] == ["manifest"], at


def test_what_is_not_there_is_one_line(staging: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["shuffle", "ls", "job_1_1", "--staging", str(staging)]) == 2
    assert "no map output of job_1_1" in capsys.readouterr().err
    assert run_command(["shuffle", "verify", str(staging)]) == 2
    assert "holds no map output" in capsys.readouterr().err


def test_without_a_map_the_option_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VAS_CLUSTER", str(tmp_path / "none.yaml"))
    assert run_command(["shuffle", "ls", JOB]) == 2
    assert "--staging" in capsys.readouterr().err
    assert run_command(["shuffle", "verify", "foo"]) == 2
    assert "'foo' is not an application id" in capsys.readouterr().err
