"""Handles files of jobs: paths below the lab's mount, or whole URIs of its HDFS.

All functions that call the lab raise VasError if its program fails.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from vas_yarn.jobs.place import JobPlace

_FS = ("hadoop", "fs")
_CUT = 'truncate -s "$2" "$1"/*'


def inside(lab: JobPlace, path: str) -> Path:
    """Returns where programs in the lab find a job's path: below the mount point."""
    return Path(lab.spec.cluster.lustre.mount) / path.lstrip("/")


def in_hdfs(path: str) -> bool:
    """Returns whether a job's path is one of HDFS (`hdfs://...`)."""
    return path.startswith("hdfs://")


def remove_tree(lab: JobPlace, path: str) -> None:
    """Removes a file or directory of jobs, if it is there."""
    if in_hdfs(path):
        lab.call([*_FS, "-rm", "-r", "-f", "-skipTrash", path])
    else:
        lab.call(["rm", "-rf", "--", str(inside(lab, path))])


def cut_files(lab: JobPlace, path: str, size_bytes: int) -> None:
    """Cuts every file of a directory to `size_bytes`, its length before it was appended to."""
    if in_hdfs(path):
        lab.call([*_FS, "-truncate", "-w", str(size_bytes), f"{path}/*"])
    else:
        lab.call(["sh", "-euc", _CUT, "sh", str(inside(lab, path)), str(size_bytes)])


@contextmanager
def readable(lab: JobPlace, path: str) -> Iterator[Path]:
    """Yields the path by which programs in the lab can read a job's directory.

    For a directory in HDFS it is a temporary copy.
    """
    if not in_hdfs(path):
        yield inside(lab, path)
        return
    with tempfile.TemporaryDirectory(dir=lab.spec.temporary, prefix="hdfs-") as name:
        lab.call([*_FS, "-get", path, name])
        yield Path(name) / PurePosixPath(path).name


def copy_to_hdfs(lab: JobPlace, source: str, target: str, block_bytes: int) -> None:
    """Copies the files of a directory below the mount into one of HDFS, except names with `_`.

    Every guest writes its share of them, as a file's blocks lie on the DataNode of its writer.
    """
    there = inside(lab, source)
    names = lab.call(["ls", str(there)]).stdout.splitlines()
    files = [str(there / name) for name in names if not name.startswith("_")]
    lab.call([*_FS, "-mkdir", "-p", target])
    for guest, share in shares(files, [guest.name for guest in lab.spec.cluster.guests()]):
        lab.call([*_FS, "-D", f"dfs.blocksize={block_bytes}", "-put", *share, target], node=guest)


def shares(files: Sequence[str], guests: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Deals files out to guests in turn: yields (guest, its files) for guests that get some."""
    for number, guest in enumerate(guests):
        if share := files[number :: len(guests)]:
            yield guest, share
