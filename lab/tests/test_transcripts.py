"""The stand-in's lfs against what a real lfs printed, byte for byte."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lab_transcripts as captured
import pytest
from lab_transcripts import (
    Planter,
    Transcript,
    at,
    entries,
    masked,
    on_first_mdt,
    without_second_mdt,
)
from stand_in import in_lab

from vas_lab.lustre import lctl
from vas_lab.lustre.lfs.__main__ import main as lfs
from vas_lab.lustre.lfs.space import StorageTarget, df_text
from vas_lab.lustre.stand_in import LabLustre

pytestmark = pytest.mark.machine

_SHELL_WORK = re.compile(r"[;|&$<>]|^(?:touch|ln|cd|echo) ")


@contextmanager
def _environment(lab: LabLustre) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("VAS_LAB_MOUNT", "VAS_LAB_MDS"):
            patch.setenv(name, lab.environment()[name])
        yield


def _run(
    lab: LabLustre, command: str, capture: pytest.CaptureFixture[bytes]
) -> tuple[str, str, int]:
    """stdout, stderr, status: in this process where the command is a single lfs or lctl."""
    quoted = re.fullmatch(r"lfs getstripe [^$]*'/.*'", command, re.DOTALL)
    if _SHELL_WORK.search(command) and not quoted:
        done = in_lab(lab, command, check=False)
        return done.stdout, done.stderr, done.status
    program, *words = shlex.split(command)
    with _environment(lab):
        capture.readouterr()
        status = {"lfs": lfs, "lctl": lctl.main}[program](words)
        out, err = capture.readouterr()
    return out.decode(errors="surrogateescape"), err.decode(errors="surrogateescape"), status


def _compare(lab: LabLustre, got: tuple[str, str, int], wanted: Transcript, stdout: str) -> None:
    assert got[0] == at(lab.mount, stdout)
    assert got[1] == at(lab.mount, wanted.stderr)
    assert got[2] == wanted.status


def test_every_transcript_is_tested_or_says_why_not() -> None:
    rows = captured.index()
    kinds = Counter(how for _, how, _ in rows)
    tested = sum(kinds.values()) - kinds["no"]
    print(f"{tested} of {len(rows)} transcripts are compared: {dict(kinds)}")
    why = Counter(note for _, how, note in rows if how == "no")
    for note, count in why.most_common():
        print(f"{count:4} not: {note}")
    kept = {
        str(path.relative_to(captured.HERE / "text"))
        for path in (captured.HERE / "text").rglob("*.txt")
    }
    assert kept == {name for name, how, _ in rows if how != "no"}
    assert all(note for _, _, note in rows)


@pytest.fixture(scope="module")
def planter(site: LabLustre) -> Planter:
    return Planter(site.mount)


@pytest.mark.unhurried
@pytest.mark.parametrize("name", captured.named("planted"))
def test_getstripe_of_captured_layouts(
    site: LabLustre, planter: Planter, capsysbinary: pytest.CaptureFixture[bytes], name: str
) -> None:
    wanted = captured.read(name)
    planter.prepare(wanted)
    got = _run(site, at(site.mount, wanted.command), capsysbinary)
    stdout = wanted.stdout
    if "nodef" in name:
        stdout = on_first_mdt(stdout)
    if name == "getstripe-O.txt":
        stdout = _with_captured_bytes(stdout)
    in_order = [entries(text, wanted.command) for text in (got[0], at(site.mount, stdout))]
    assert in_order[0] == in_order[1]
    _compare(site, (at(site.mount, stdout), *got[1:]), wanted, stdout)


def _with_captured_bytes(stdout: str) -> str:
    known = {path.stem.partition(".")[0] for path in (captured.HERE / "xattr").iterdir()}
    kept = [
        text for path, text in captured.blocks(stdout).items() if path.rpartition("/")[2] in known
    ]
    return "".join(kept)


@pytest.mark.parametrize("name", captured.named("made"))
def test_setstripe_makes_what_the_real_one_made(
    start_site: LabLustre, capsysbinary: pytest.CaptureFixture[bytes], name: str
) -> None:
    wanted = captured.read(name)
    target = Path(at(start_site.mount, wanted.command).split()[-1])
    if name.startswith("set-"):
        target.unlink(missing_ok=True)
    elif name.startswith("dir"):
        target.mkdir(exist_ok=True)
    got = _run(start_site, at(start_site.mount, wanted.command), capsysbinary)
    _compare(start_site, got, wanted, wanted.stdout)
    shown = {"set": "get", "dirset": "dirget"}.get(name.partition("-")[0])
    if shown:
        suffix = "-d.txt" if shown == "dirget" else ".txt"
        after = captured.read(f"{shown}-{name.partition('-')[2].removesuffix('.txt')}{suffix}")
        out, _, _ = _run(start_site, at(start_site.mount, after.command), capsysbinary)
        assert masked(out) == masked(at(start_site.mount, after.stdout))


@pytest.fixture(scope="module")
def start_site(site: LabLustre) -> LabLustre:
    """The site with the directories the captured commands worked in."""
    for directory in ("lay", "dirs", "err"):
        (site.mount / directory).mkdir(exist_ok=True)
    return site


@pytest.mark.unhurried
@pytest.mark.parametrize("name", captured.named("run"))
def test_commands_as_captured(
    start_site: LabLustre, planter: Planter, capsysbinary: pytest.CaptureFixture[bytes], name: str
) -> None:
    site, wanted = start_site, captured.read(name)
    planter.prepare(wanted)
    (site.mount / "err" / "f").touch()
    text = captured.blocks(captured.read("err-mixed-bad-ok.txt").stdout)
    layout = captured.plain_from_text(next(iter(text.values())))
    captured.store(site.mount / "err" / "f", layout, None)
    out, err, status = _run(site, at(site.mount, wanted.command), capsysbinary)
    stdout = masked(at(site.mount, without_second_mdt(wanted.stdout)))
    assert masked(out) == stdout
    assert masked(err) == masked(at(site.mount, wanted.stderr))
    assert status == wanted.status


@pytest.mark.parametrize("name", captured.named("text"))
def test_df_text(name: str) -> None:
    wanted = captured.read(name)
    human, inodes = "-h" in wanted.command, "-i" in wanted.command
    # -h rounds: its numbers are those of the plain `lfs df` beside it.
    source = name.replace("-h-user", "").replace("-h", "")
    targets = [_target(line, inodes) for line in captured.read(source).stdout.splitlines()]
    text = df_text([t for t in targets if t], captured.CAPTURED_MOUNT, human=human, inodes=inodes)
    assert text == wanted.stdout


def _target(line: str, inodes: bool) -> StorageTarget | None:
    match = re.match(r"(\S+_UUID) +(\d+) +(\d+) +(\d+) .*:(\d+)\]", line)
    if match is None:
        return None
    name, total, used, free, index = match.groups()
    blank = (0, 0, 0)
    space = blank if inodes else (int(total), int(used), int(free))
    files = (int(total), int(used)) if inodes else (0, 0)
    return StorageTarget(name, int(index), space[0], space[1], *files, space[2])


def test_a_changed_letter_is_noticed(
    site: LabLustre, planter: Planter, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    wanted = captured.read("get-c2.txt")
    planter.prepare(wanted)
    got = _run(site, at(site.mount, wanted.command), capsysbinary)
    with pytest.raises(AssertionError):
        _compare(site, got, wanted, wanted.stdout.replace("0x300000401", "0x300000402"))


def test_lfs_runs_as_a_program(site: LabLustre) -> None:
    done = subprocess.run(
        [Path(site.bin) / "lfs", "--version"],
        env=site.environment(),
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"lfs 2.17.57\n"
