"""Writes and reads a cloud-init seed of the kind NoCloud: a small CD with the label `cidata`."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from pycdlib.pycdlib import PyCdlib

from vas_core.files import write_atomically

_LABEL = "cidata"


def write_seed(path: Path, files: Mapping[str, str]) -> None:
    """Writes a CD image with `files` (name -> text), readable by its owner alone.

    cloud-init reads `user-data`, `meta-data` and, if it is there, `network-config`. Raises OSError
    if the image cannot be written.
    """
    disc = PyCdlib()
    disc.new(interchange_level=3, vol_ident=_LABEL, rock_ridge="1.09", joliet=3)
    for number, (name, text) in enumerate(sorted(files.items())):
        data = text.encode()
        disc.add_fp(
            BytesIO(data),
            len(data),
            f"/FILE{number}.;1",  # ISO 9660 has no names like user-data
            rr_name=name,
            joliet_path=f"/{name}",
        )
    content = BytesIO()
    disc.write_fp(content)
    disc.close()
    write_atomically(path, content.getvalue(), mode=0o600)


def read_seed(path: Path) -> dict[str, str]:
    """Returns the files (name -> text) of a CD that `write_seed` wrote."""
    disc = PyCdlib()
    disc.open(str(path))
    try:
        return dict(_files(disc))
    finally:
        disc.close()


def _files(disc: PyCdlib) -> list[tuple[str, str]]:
    found = []
    for entry in disc.list_children(rr_path="/"):
        if entry is not None and entry.is_file():
            name = entry.rock_ridge.name().decode()
            content = BytesIO()
            disc.get_file_from_iso_fp(content, rr_path=f"/{name}")
            found.append((name, content.getvalue().decode()))
    return found
