"""The archives that the controller hands to nodes."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from vas_ansible import archives
from vas_core.cli import run_command
from vas_core.errors import VasError


def test_one_archive_serves_nodes_with_different_pythons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gather(directory: Path, python: str) -> None:
        for name in ("vas-1-py3-none-any", f"core-1-cp{python.replace('.', '')}"):
            (directory / f"{name}.whl").touch()

    monkeypatch.setattr(archives, "gather_wheels", gather)
    file = tmp_path / "wheels.tar"
    given = ["--python", "3.11", "--python", "3.13"]
    assert run_command(["provision", "wheels", str(file), *given]) == 0
    with tarfile.open(file) as tar:
        names = tar.getnames()
    assert names == [
        f"wheels/{name}.whl" for name in ("core-1-cp311", "core-1-cp313", "vas-1-py3-none-any")
    ]


def test_S6_an_archive_has_a_bill_of_each_of_its_files(tmp_path: Path) -> None:
    given = {"hadoop/hadoop-common-3.5.0.jar": b"jar", "wheels/click-8.1-py3-none-any.whl": b"whl"}
    files = {name: tmp_path / Path(name).name for name in given}
    for name, content in given.items():
        files[name].write_bytes(content)
    archive = tmp_path / "made" / "vas.tar"
    archive.parent.mkdir()
    (archive.parent / ".vas.tar.new").symlink_to(tmp_path / "somebody's")
    assert archives.pack(archive, files) == 2
    bill = json.loads((tmp_path / "made/vas.tar.cdx.json").read_text())
    found = {one["purl"]: one["hashes"][0]["content"] for one in bill["components"]}
    assert found == {
        "pkg:maven/hadoop-common@3.5.0": hashlib.sha256(b"jar").hexdigest(),
        "pkg:pypi/click@8.1": hashlib.sha256(b"whl").hexdigest(),
    }
    assert not (tmp_path / "somebody's").exists(), "D3: a foreseeable name is not written through"
    assert len(list(archive.parent.iterdir())) == 3


def test_S6_what_a_bill_cannot_name_is_not_packed(tmp_path: Path) -> None:
    (tmp_path / "strange.jar").touch()
    with pytest.raises(VasError, match=r"strange.jar: has no version in its name"):
        archives.pack(tmp_path / "a.tar", {"hadoop/strange.jar": tmp_path / "strange.jar"})
    assert not (tmp_path / "a.tar").exists()


@pytest.mark.parametrize("python", ["3.9", "3", "python3.11"])
def test_a_python_that_vas_does_not_run_on_is_refused(
    python: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["provision", "wheels", str(tmp_path / "x.tar"), "--python", python]) != 0
    assert f"{python}: is not a supported Python" in capsys.readouterr().err


@pytest.mark.parametrize("built", [True, False])
def test_sparks_shuffle_manager_is_packed_once_it_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], built: bool
) -> None:
    jars = {name: tmp_path / f"{name}-1.0.jar" for name in ("hadoop-common", "vas-x", "vas-spark")}
    for jar in jars.values():
        jar.touch()
    (tmp_path / "lib").mkdir()
    shuffle = jars["vas-spark"] if built else None
    monkeypatch.setattr(archives, "find_hadoop", lambda: tmp_path / "lib")
    monkeypatch.setattr(archives, "find_plugins", lambda: jars["vas-x"])
    monkeypatch.setattr(archives, "find_accept_jar", lambda name: jars["hadoop-common"])
    for module in ("archives", "commands"):
        monkeypatch.setattr(f"vas_ansible.{module}.find_spark_shuffle", lambda: shuffle)
    assert run_command(["provision", "hadoop", str(tmp_path / "a.tar")]) == 0
    with tarfile.open(tmp_path / "a.tar") as tar:
        assert ("spark/vas-spark-1.0.jar" in tar.getnames()) is built
    assert ("`vas spark get`" in capsys.readouterr().err) is not built
