"""Checks the rules that every image must meet, such as no secret and no machine-id."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_core.root import Root

_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_CLASSES = "var/lib/vas/cds/hadoop"
_JARS_OF_ARCHIVE = re.compile(r'"jars": (\d+)')
_LOCKED = ("*", "!", "!!", "!*", "!locked", "!unprovisioned", "*LK*")
_LARGEST_BYTES = 1 << 20
_EMPTY_ID = ("", "uninitialized")


@dataclass(frozen=True)
class ImageRule:
    """A rule, and whether an image meets it; `found` says what was seen."""

    name: str
    ok: bool
    found: str


def rules(root: Root) -> list[ImageRule]:
    """Checks all rules for the tree of an image."""
    return [rule(root) for rule in _RULES]


def _machine_id(root: Root) -> ImageRule:
    found = root.read("etc/machine-id")
    other = root.path("var/lib/dbus/machine-id").exists()
    ok = found is not None and found in _EMPTY_ID and not other
    return ImageRule("machine-id is empty", ok, "no file" if found is None else repr(found))


def _passwords(root: Root) -> ImageRule:
    lines = (root.read("etc/shadow") or "").splitlines()
    users = [line.split(":")[0] for line in lines if line.split(":")[1] not in _LOCKED]
    found = _words(users) if lines else "no /etc/shadow"
    return ImageRule("nobody has a password", bool(lines) and not users, found)


def _host_keys(root: Root) -> ImageRule:
    found = [path.name for path in root.glob("etc/ssh/ssh_host_*")]
    return ImageRule("no SSH host key", not found, _words(found))


def _authorized(root: Root) -> ImageRule:
    found = [path.parent.parent.name for path in _files(root) if path.name == "authorized_keys"]
    return ImageRule("nobody may log in by a key", not found, _words(found))


def _private_keys(root: Root) -> ImageRule:
    found = [
        str(path.relative_to(root.directory))
        for path in _files(root)
        if path.stat().st_size <= _LARGEST_BYTES and _PRIVATE_KEY.search(path.read_bytes())
    ]
    return ImageRule("no private key", not found, _words(found))


def _identity(root: Root) -> ImageRule:
    names = ("etc/hostname", "etc/resolv.conf", "var/lib/systemd/random-seed", "root/.bash_history")
    found = [name for name in names if root.path(name).is_file()]
    cloud = root.names("var/lib/cloud")
    return ImageRule("never started", not found and not cloud, _words([*found, *cloud]))


def _cloud_init(root: Root) -> ImageRule:
    text = root.read("etc/cloud/cloud.cfg.d/90-vas.cfg") or ""
    said = next((line for line in text.splitlines() if line.startswith("datasource_list")), "-")
    return ImageRule("cloud-init reads a seed only", "[NoCloud, None]" in said, said)


def _software(root: Root) -> ImageRule:
    jars = root.names("usr/lib/vas/hadoop")
    plugins = root.names("usr/lib/vas/plugins")
    ok = any(jar.startswith("hadoop-common-") for jar in jars) and len(plugins) == 1
    return ImageRule("Hadoop and the plugins", ok, f"{len(jars)} jars, {_words(plugins)}")


def _class_archive(root: Root) -> ImageRule:
    """Checks that the archive was made of the image's jars; `vas image check` asks the JVM."""
    jars = len(root.names("usr/lib/vas/hadoop")) + len(root.names("usr/lib/vas/plugins"))
    made = _JARS_OF_ARCHIVE.search(root.read(f"{_CLASSES}.json") or "")
    there = made is not None and root.path(f"{_CLASSES}.jsa").exists()
    found = f"of {made[1]} jars" if made and there else "none"
    return ImageRule("archive of classes", there and found == f"of {jars} jars", found)


def _units(root: Root) -> ImageRule:
    wanted = "multi-user.target.wants"
    lacking = [
        name
        for name in ("vas-nodemanager.service", "vas-routed.service")
        if not _enabled(root, f"{wanted}/{name}")
    ]
    return ImageRule("VAS's units start", not lacking, _words(lacking) if lacking else "both")


def _unwanted_units(root: Root) -> ImageRule:
    """Checks that chrony-wait and ssh.socket are off.

    A site's time server may be out of reach; a socket keeps sshd itself from starting.
    """
    wants = ("multi-user.target.wants/chrony-wait.service", "sockets.target.wants/ssh.socket")
    found = [name.partition("/")[2] for name in wants if _enabled(root, name)]
    return ImageRule("no unit that keeps others from starting", not found, _words(found))


def _enabled(root: Root, wants: str) -> bool:
    return root.path(f"etc/systemd/system/{wants}").is_symlink()


_RULES: tuple[Callable[[Root], ImageRule], ...] = (
    _machine_id,
    _passwords,
    _host_keys,
    _authorized,
    _private_keys,
    _identity,
    _cloud_init,
    _software,
    _class_archive,
    _units,
    _unwanted_units,
)


def _files(root: Root) -> Iterator[Path]:
    found = (path for tree in ("etc", "root", "home") for path in root.glob(f"{tree}/**/*"))
    return (path for path in found if path.is_file() and not path.is_symlink())


def _words(names: list[str]) -> str:
    return ", ".join(names) or "none"
