"""Packs the Ansible collection as `ansible-galaxy` installs it, with the same bytes each time.

`ansible-galaxy collection build` writes the time of the build and the order of the directory into
its archive; so the two lists that it wants are written here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from vas_release.artefact import ReleaseFile
from vas_release.source import ReleaseSource
from vas_release.tarball import write_tarball

_FOLDER = "ansible"
# Of the folder, what only a clone has a use for.
_LEFT_OUT = ("tests/", "vas_ansible/", "galaxy.yml", ".ansible-lint", ".yamllint")
_LICENCE = "LICENSE"
_FORMAT = 1


def pack_collection(source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
    """Packs the folder `ansible`; its playbooks become those of the collection."""
    galaxy = yaml.safe_load((source.repository / _FOLDER / "galaxy.yml").read_text())
    members = collection_files(source)
    files = json.dumps({"files": _listed(members), "format": _FORMAT}, indent=1).encode()
    manifest = json.dumps(_manifest(galaxy, files), indent=1).encode()
    archive = directory / f"{galaxy['namespace']}-{galaxy['name']}-{galaxy['version']}.tar.gz"
    lists = {"MANIFEST.json": manifest, "FILES.json": files}
    # The installer wants each directory in the archive too.
    directories = dict.fromkeys(_directories(members))
    write_tarball(archive, {**directories, **members, **lists}, source.epoch)
    yield ReleaseFile(archive)


def collection_files(source: ReleaseSource) -> dict[str, Path]:
    """Returns name in the collection -> file of the clone, links not yet followed."""
    found = {_LICENCE: source.repository / _LICENCE}
    for file in source.tracked(_FOLDER):
        name = file.relative_to(_FOLDER).as_posix()
        if not name.startswith(_LEFT_OUT):
            found[_name_in_collection(name)] = source.repository / file
    return found


def _name_in_collection(name: str) -> str:
    """Ansible finds `vas.site.PLAYBOOK` in playbooks/, by a name that Python would take too."""
    is_playbook = name.endswith(".yml") and "/" not in name
    return f"playbooks/{name.replace('-', '_')}" if is_playbook else name


def _listed(members: Mapping[str, Path]) -> list[dict[str, Any]]:
    entries = [_entry(name, None) for name in (".", *_directories(members))]
    entries += [_entry(name, file.read_bytes()) for name, file in members.items()]
    return sorted(entries, key=lambda entry: str(entry["name"]))


def _directories(members: Iterable[str]) -> set[str]:
    above = {str(parent) for name in members for parent in PurePosixPath(name).parents}
    return above - {"."}


def _entry(name: str, content: bytes | None) -> dict[str, Any]:
    is_file = content is not None
    return {
        "name": name,
        "ftype": "file" if is_file else "dir",
        "chksum_type": "sha256" if is_file else None,
        "chksum_sha256": hashlib.sha256(content).hexdigest() if content is not None else None,
        "format": _FORMAT,
    }


def _manifest(galaxy: Mapping[str, Any], files: bytes) -> dict[str, Any]:
    words = ("namespace", "name", "version", "authors", "readme", "tags", "description", "license")
    unknown = ("license_file", "repository", "documentation", "homepage", "issues")
    return {
        "collection_info": {
            **{word: galaxy[word] for word in words},
            "dependencies": {},
            **dict.fromkeys(unknown),
        },
        "file_manifest_file": _entry("FILES.json", files),
        "format": _FORMAT,
    }
