"""The Ansible collection as it is packed."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from vas_core.repository import REPOSITORY
from vas_release.collection import pack_collection
from vas_release.source import ReleaseSource

pytestmark = pytest.mark.machine
_UNIT = "roles/hadoop/files/vas-nodemanager.service"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    """Name in the collection -> member and content."""
    source = ReleaseSource.of(REPOSITORY, uncommitted=True)
    (made,) = pack_collection(source, tmp_path_factory.mktemp("collection"))
    with tarfile.open(made.path) as tar:
        files = ((member, tar.extractfile(member)) for member in tar)
        return {member.name: (member, file.read() if file else b"") for member, file in files}


def test_every_member_is_listed_with_its_sum(
    packed: dict[str, tuple[tarfile.TarInfo, bytes]],
) -> None:
    listed = json.loads(packed["FILES.json"][1])["files"]
    sums = {one["name"]: one["chksum_sha256"] for one in listed if one["ftype"] == "file"}
    assert sums == {
        name: hashlib.sha256(content).hexdigest()
        for name, (member, content) in packed.items()
        if member.isfile() and name not in ("FILES.json", "MANIFEST.json")
    }
    directories = {one["name"] for one in listed if one["ftype"] == "dir"} - {"."}
    assert directories == {name for name, (member, _) in packed.items() if member.isdir()}
    manifest = json.loads(packed["MANIFEST.json"][1])
    digest = hashlib.sha256(packed["FILES.json"][1]).hexdigest()
    assert manifest["file_manifest_file"]["chksum_sha256"] == digest


def test_units_are_files_and_playbooks_have_names_that_ansible_finds(
    packed: dict[str, tuple[tarfile.TarInfo, bytes]],
) -> None:
    assert packed[_UNIT][1] == (REPOSITORY / "yarn/systemd" / Path(_UNIT).name).read_bytes()
    assert all(member.isfile() or member.isdir() for member, _ in packed.values())
    playbooks = {Path(name).stem for name in packed if name.startswith("playbooks/")}
    assert {"site", "rolling_upgrade"} <= playbooks
    assert all(name.isidentifier() for name in playbooks)


def test_what_only_a_clone_has_is_left_out(
    packed: dict[str, tuple[tarfile.TarInfo, bytes]],
) -> None:
    assert not [name for name in packed if name.startswith(("tests", "vas_ansible", "group_vars"))]


def test_no_role_reads_a_file_outside_of_the_collection() -> None:
    for file in (REPOSITORY / "ansible/roles").glob("*/*/*.yml"):
        assert "/../../.." not in file.read_text(), file
