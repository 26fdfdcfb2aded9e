"""Files that attackers plant: bombs, loops, links, devices, names.

All functions but `add` return a `Plant`: called with a directory, it makes the file there and
returns `words` with the file's path in place of the word FILE.
"""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from vas_core.repository import REPOSITORY

EXAMPLE = REPOSITORY / "cluster/examples/four-oss.yaml"
SECRET = "the-secret-of-another-user"
TERABYTE = 1 << 40

YAML_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{chr(ord(name) - 1)}'] * 9)}]\n" for name in "bcdefghi"
)
XML_BOMB = (
    '<?xml version="1.0"?><!DOCTYPE t [<!ENTITY a "x">'
    + "".join(f'<!ENTITY {n} "{f"&{chr(ord(n) - 1)};" * 10}">' for n in "bcdefghi")
    + ']><topology version="2.0">&i;</topology>'
)
XML_THIEF = (
    '<?xml version="1.0"?><!DOCTYPE t [<!ENTITY s SYSTEM "file://{secret}">]>'
    '<topology version="2.0"><object type="Machine" name="&s;"/></topology>'
)

Plant = Callable[[Path], list[str]]


def text(words: list[str], content: str | bytes, name: str = "planted") -> Plant:
    """Plants a file with that content; the word FILE stands for its path."""

    def plant(directory: Path) -> list[str]:
        data = content.encode() if isinstance(content, str) else content
        (directory / name).write_bytes(data)
        return _with_file(words, directory / name)

    return plant


def sparse(words: list[str], size: int = TERABYTE, name: str = "planted") -> Plant:
    """Plants a sparse file of that size (1 TiB): it takes no room on the disk."""

    def plant(directory: Path) -> list[str]:
        with (directory / name).open("wb") as file:
            file.truncate(size)
        return _with_file(words, directory / name)

    return plant


def fifo(words: list[str], name: str = "planted") -> Plant:
    """Plants a pipe that nobody writes: whoever opens it to read waits for ever."""

    def plant(directory: Path) -> list[str]:
        os.mkfifo(directory / name)
        return _with_file(words, directory / name)

    return plant


def link(words: list[str], target: str, name: str = "planted") -> Plant:
    """Plants a symbolic link that leads to `target`."""

    def plant(directory: Path) -> list[str]:
        (directory / name).symlink_to(target)
        return _with_file(words, directory / name)

    return plant


def folder(words: list[str], name: str = "planted") -> Plant:
    """Plants a directory where a file is expected."""

    def plant(directory: Path) -> list[str]:
        (directory / name).mkdir()
        return _with_file(words, directory / name)

    return plant


def tree(words: list[str], build: Callable[[Path], None], name: str = "planted") -> Plant:
    """Plants a captured machine (/sys and /proc of two CPUs), and what `build` adds to it."""

    def plant(directory: Path) -> list[str]:
        root = directory / name
        cpu = root / "sys/devices/system/cpu"
        cpu.mkdir(parents=True)
        (root / "proc").mkdir()
        (cpu / "online").write_text("0-1\n")
        (cpu / "cpu0").mkdir()
        (directory / "secret").write_text(SECRET)
        build(root)
        return _with_file(words, root)

    return plant


def tar(
    words: list[str], fill: Callable[[tarfile.TarFile], None], name: str = "planted.tar"
) -> Plant:
    """Plants an archive of a captured machine, and what `fill` adds to it."""

    def plant(directory: Path) -> list[str]:
        with tarfile.open(directory / name, "w") as archive:
            add(archive, "sys/devices/system/cpu/online", b"0-1\n")
            fill(archive)
        return _with_file(words, directory / name)

    return plant


def add(archive: tarfile.TarFile, name: str, content: bytes = b"", **fields: object) -> None:
    """Adds a member to an archive; `fields` are those of its TarInfo: `type`, `linkname`."""
    member = tarfile.TarInfo(name)
    member.size = len(content)
    for field, value in fields.items():
        setattr(member, field, value)
    archive.addfile(member, io.BytesIO(content))


def jar(words: list[str], manifest: str, classes: dict[str, bytes] | None = None) -> Plant:
    """Plants a jar with a manifest; it is compressed, so a bomb is small on the disk."""

    def plant(directory: Path) -> list[str]:
        path = directory / "planted.jar"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("META-INF/MANIFEST.MF", manifest)
            for name, content in (classes or {}).items():
                archive.writestr(name, content)
        return _with_file(words, path)

    return plant


def _with_file(words: list[str], file: Path) -> list[str]:
    return [word.replace("FILE", str(file)) for word in words]
