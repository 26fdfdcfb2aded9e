"""`vas layout` through the command line. What needs Lustre is tested in the lab."""

from __future__ import annotations

import base64
import errno
import io
import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import yaml
from layout_samples import VECTORS, site, vector

from vas_core.cli import run_command
from vas_layout import ingest
from vas_layout.codec import decode
from vas_layout.command import put as put_module
from vas_layout.model import RAID0, Fid, Layout, Magic, Plain, StripeObject
from vas_layout.reasons import unavailable
from vas_layout.store import LayoutReader, XattrStore

MOUNTS = "; `findmnt -t lustre` lists the mounts"


@pytest.fixture
def map_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump(site().model_dump(mode="json", exclude_none=True)))
    monkeypatch.setenv("VAS_CLUSTER", str(path))
    return path


@pytest.fixture
def no_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAS_CLUSTER", str(tmp_path / "none.yaml"))


@pytest.fixture
def mounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Directories answer as on Lustre: they have no default of their own. Files do not."""
    read = XattrStore.read

    def answer(store: XattrStore, path: Path) -> Layout:
        if path.is_dir():
            raise unavailable(OSError(errno.ENODATA, ""), str(path))
        return read(store, path)

    monkeypatch.setattr(XattrStore, "read", answer)


@pytest.mark.parametrize("name", ["c4", "pfl-written", "foreign", "hsm-released", "made-sel"])
def test_decode_prints_the_vectors_json(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["layout", "decode", str(VECTORS / f"{name}.bin")]) == 0
    assert capsys.readouterr().out == (VECTORS / f"{name}.json").read_text()


@pytest.mark.parametrize(
    "text",
    [
        "{hex}",
        "0x{hex}\n",
        "{spaced}",
        "# file: lustre/f\nlustre.lov=0x{hex}\n\n",
        "# file: lustre/f\nlustre.lov=0s{base64}\n",
    ],
)
def test_decode_reads_what_people_have(
    text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = vector("c2")
    given = text.format(
        hex=raw.hex(), spaced=raw.hex(" ", 2), base64=base64.b64encode(raw).decode()
    )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
    assert run_command(["layout", "decode", "-", "--json"]) == 0
    assert capsys.readouterr().out == (VECTORS / "c2.json").read_text()


@pytest.mark.parametrize("path", sorted((VECTORS / "bad").glob("*.bin")), ids=lambda p: p.stem)
def test_decode_refuses_in_one_line(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["layout", "decode", str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"vas: {path}: {path.with_suffix('.error').read_text()}"


def test_decode_does_not_read_without_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_command(["layout", "decode", "/dev/zero"]) == 2
    assert capsys.readouterr().err == "vas: /dev/zero: is a device, not a file\n"
    with open("/dev/zero", encoding="utf-8") as endless:
        monkeypatch.setattr(sys, "stdin", endless)
        assert run_command(["layout", "decode", "-"]) == 2
    assert capsys.readouterr().err == "vas: <stdin>: oversized: more than 524288 bytes given\n"


def test_decode_says_when_a_file_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["layout", "decode", "/nonexistent"]) == 2
    assert "No such file or directory" in capsys.readouterr().err


def test_plan_counts_the_maps_osts(map_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["layout", "plan", "--size", "10G", "--split", "128M"]) == 0
    assert "80 splits over 4 OSTs: 20 each" in capsys.readouterr().out


def test_plan_without_a_map_takes_all(no_map: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["layout", "plan", "--size", "10G", "--pool", "fast", "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert (planned["stripe_size"], planned["stripe_count"]) == (128 << 20, -1)
    assert planned["lfs"] == ["-S", "134217728", "-c", "-1", "-p", "fast"]


def test_a_map_that_is_named_must_exist(no_map: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["layout", "plan", "--size", "1G", "--cluster", "/nonexistent"]) == 2
    assert "/nonexistent" in capsys.readouterr().err


def test_ordinary_files_are_told_apart(
    tmp_path: Path, map_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x")
    assert run_command(["layout", "locate", str(tmp_path)]) == 2
    assert "is a directory; `vas layout locality`" in capsys.readouterr().err
    for words in (["show"], ["locate"], ["locality"]):
        assert run_command(["layout", *words, str(path)]) == 1
        assert capsys.readouterr().err == f"vas: {path}: not on a Lustre file system{MOUNTS}\n"


def test_show_goes_on_after_a_bad_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["layout", "show", "/nonexistent", "/etc", "--json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out) == []
    assert said.err.splitlines() == [
        "vas: /nonexistent: no such file or directory",
        f"vas: /etc: not on a Lustre file system{MOUNTS}",
    ]


@pytest.mark.usefixtures("mounted")
def test_locality_goes_on_after_what_it_cannot_read(
    tmp_path: Path, map_file: Path, closed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "z").mkdir()
    (tmp_path / "z/empty").touch()
    map_file.rename(tmp_path.with_suffix(".yaml"))
    words = ["layout", "locality", str(tmp_path), "--cluster", str(tmp_path.with_suffix(".yaml"))]
    assert run_command([*words, "--json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["files"] == 1
    assert said.err.startswith(f"vas: {closed}: no permission")


def test_fix_leaves_alone_what_must_not_be_migrated(
    tmp_path: Path,
    no_map: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "f").write_bytes(b"x")
    monkeypatch.setattr(XattrStore, "read", lambda *_: decode(vector("hsm-released")))
    assert run_command(["layout", "fix", str(tmp_path), "--apply", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["why"], found["result"]) == ("released to the archive", "left alone")
    assert found["lfs"] == []


def test_put_plans_without_touching(
    tmp_path: Path, no_map: None, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "s"
    source.write_bytes(bytes(300_000))
    words = ["layout", "put", str(source), str(tmp_path / "d"), "--split", "64K", "--osts", "4"]
    assert run_command([*words, "--dry-run", "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert (planned["splits"], planned["stripe_count"]) == (5, 4)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s"]


@pytest.mark.machine
def test_put_to_an_ordinary_file_system_changes_nothing(
    tmp_path: Path, no_map: None, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "s"
    source.write_bytes(bytes(300_000))
    assert run_command(["layout", "put", str(source), str(tmp_path / "d")]) == 1
    assert capsys.readouterr().err == f"vas: {tmp_path}/d: not on a Lustre file system{MOUNTS}\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s"]


@pytest.mark.machine
def test_put_refuses_a_pool_that_does_not_exist(
    tmp_path: Path,
    no_map: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "lfs").write_text("#!/bin/sh\necho 'Pools from lab:'\necho lab.fast\n")
    (tmp_path / "lfs").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    words = ["layout", "put", str(tmp_path / "lfs"), str(tmp_path / "new"), "--pool", "slow"]
    assert run_command(words) == 2
    assert capsys.readouterr().err == f"vas: {tmp_path}: pool slow does not exist; pools: fast\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lfs"]


@pytest.mark.parametrize("words", [["fix"], ["fix", "--json"], ["locality"]])
def test_a_tree_outside_lustre_is_one_error(
    words: list[str], tmp_path: Path, map_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tree").mkdir()
    for name in "abc":
        (tmp_path / "tree" / name).write_bytes(b"x")
    assert run_command(["layout", *words, str(tmp_path / "tree")]) == 1
    said = capsys.readouterr()
    assert said.err == f"vas: {tmp_path}/tree: not on a Lustre file system{MOUNTS}\n"
    assert said.out == ""


@pytest.mark.parametrize("words", [["plan", "--size", "1G"], ["put", "S", "D"], ["fix", "."]])
def test_a_split_that_no_stripe_has_is_refused(
    words: list[str], tmp_path: Path, no_map: None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s").write_bytes(b"x")
    places = {"S": str(tmp_path / "s"), "D": str(tmp_path / "d"), ".": str(tmp_path)}
    asked = [places.get(word, word) for word in words]
    assert run_command(["layout", *asked, "--split", "5"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("vas: --split: 5 bytes are not a multiple of 64 KiB")
    assert "; give --split 65536, " in said and said.count("\n") == 1


@pytest.mark.usefixtures("mounted")
def test_fix_reports_what_it_cannot_read(
    tmp_path: Path, no_map: None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f").write_bytes(b"x")
    assert run_command(["layout", "fix", str(tmp_path), "--json"]) == 1
    said = capsys.readouterr()
    assert (json.loads(said.out), said.err.count("not on a Lustre file system")) == ([], 1)
    assert run_command(["layout", "fix", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert said.err.endswith("\nnot read: 1 path, named above\n")
    assert "every split" not in said.err
    (tmp_path / "f").write_bytes(b"")
    assert run_command(["layout", "fix", str(tmp_path)]) == 0
    assert capsys.readouterr().err == "no file has a split on several OSTs\n"


@pytest.mark.parametrize("name", ["show", "decode", "locate", "locality", "plan", "put", "fix"])
def test_every_help_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["layout", name, "--help"]) == 0
    assert f"vas layout {name}" in capsys.readouterr().out.split("Example", 1)[1]


def test_R7_a_plan_for_a_pool_says_so(no_map: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["layout", "plan", "--size", "1G", "--pool", "fast"]) == 0
    assert "8 splits over all OSTs of pool fast\n" in capsys.readouterr().out
    assert run_command(["layout", "plan", "--size", "1G", "--osts", "2", "--pool", "fast"]) == 0
    assert "8 splits over 2 OSTs of pool fast: 4 each\n" in capsys.readouterr().out


def test_R7_a_name_that_is_not_utf8_is_shown_by_its_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(XattrStore, "read", lambda *_: decode(vector("c2")))
    assert run_command(["layout", "show", f"{tmp_path}/a\udcffb"]) == 0
    assert f"{tmp_path}/a\\xffb " in capsys.readouterr().out
    monkeypatch.undo()
    assert run_command(["layout", "show", f"{tmp_path}/a\udcffb"]) == 1
    assert capsys.readouterr().err == f"vas: {tmp_path}/a\\xffb: no such file or directory\n"


@pytest.mark.machine
@pytest.mark.parametrize(
    ("options", "is_fewer"), [(["--osts", "4"], True), ([], True), (["--pool", "two"], False)]
)
def test_R7_put_says_that_it_got_fewer_stripes(
    options: list[str],
    is_fewer: bool,
    tmp_path: Path,
    no_map: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two OSTs of four are full: whether four or all were asked for. A pool may have but two."""
    (tmp_path / "bin").mkdir()
    lfs = tmp_path / "bin/lfs"
    osts = "".join(f"echo '{n}: lab-OST000{n}_UUID ACTIVE'\n" for n in range(4))
    members = "Pool: lab.two\\nlab-OST0000_UUID\\nlab-OST0001_UUID\\n"
    lfs.write_text(
        f"#!/bin/sh\ncase $* in\nosts*) echo OBDS:\n{osts};;\n"
        f"*lab.two*) printf '{members}' ;;\n*) echo lab.two ;;\nesac\n"
    )
    lfs.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")

    class TwoOnly(XattrStore):
        def read(self, path: Path) -> Layout:
            two = decode(vector("c2"))
            assert isinstance(two, Plain)
            return replace(two, stripe_size=65536, pool=None if is_fewer else "two")

    store = TwoOnly("user.lustre.lov")
    monkeypatch.setattr(put_module, "put", partial(ingest.put, store=store))
    (tmp_path / "s").write_bytes(bytes(4 * 65536))
    words = ["layout", "put", str(tmp_path / "s"), str(tmp_path / "d"), "--split", "64K", *options]
    assert run_command(words) == 0
    said = capsys.readouterr().err
    assert ("Lustre made 2 stripes instead of 4" in said) is is_fewer
    assert ("Lustre made" in said) is is_fewer


@pytest.mark.unhurried
def test_a_sparse_file_of_too_many_ranges_is_refused_with_the_way_out(
    tmp_path: Path,
    map_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A user's empty file of 4 TiB has 67 million ranges in stripes of 64 KiB."""
    objects = tuple(StripeObject(index, Fid(1, index)) for index in range(2))
    layout = Plain(Magic.V1, RAID0, 65536, 2, 0, objects=objects)
    monkeypatch.setattr(LayoutReader, "read", lambda *_: layout)
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(4 << 40)
    assert run_command(["layout", "locate", str(path), "--json"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "sparse: has more than 500000 ranges; give --offset and --length" in said.err
    assert run_command(["layout", "locate", str(path), "--split", "1G", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["ranges"]) == 4096
