"""The Debian packages of the node tools on a host: installed, used, upgraded, removed, purged."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.cli import run_command
from vas_core.repository import REPOSITORY
from vas_tests.hosts.compare import differences, look
from vas_tests.hosts.host import EmulatedHost
from vas_tests.hosts.tree import tree

_LACKS = [p for p in ("mmdebstrap", "dpkg-deb", "unshare", "nsenter") if shutil.which(p) is None]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(2400),
    pytest.mark.skipif(os.geteuid() != 0, reason="hosts in namespaces need root"),
    pytest.mark.skipif(bool(_LACKS), reason=f"not installed: {', '.join(_LACKS)}"),
]
_PLACE = "/mnt/packages"
_UNITS = "/usr/lib/systemd/system"
_PYTHON = "/usr/lib/vas/python/bin/python3"
_NAMES = ("vas-storage", "vas-node")
# A daemon that needs nothing of the site.
_DAEMON = "vas-clean-stop.service"
_USERS = {"yarn", "mapred", "hadoop"}
_EVERY_MODULE = """
import click, google_crc32c, jinja2, numpy, prometheus_client, pycdlib, pydantic, pyroute2
import pythonjsonlogger, rapidfuzz, requests, resvg_py, rich, yaml
assert numpy.__file__.startswith("/usr/lib/vas/"), numpy.__file__
assert yaml.__with_libyaml__
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a release of the two packages alone."""
    made = tmp_path_factory.mktemp("release") / "out"
    assert run_command(["release", "--uncommitted", "--only=node-deb", "--out", str(made)]) == 0
    return made


@pytest.fixture
def host(tmp_path: Path, packages: Path) -> Iterator[EmulatedHost]:
    key = tmp_path / "key.pub"
    key.touch()
    disk = tmp_path / "disk"
    disk.mkdir()
    started = EmulatedHost.start("node", tree(), key, disk, {_PLACE: packages})
    try:
        started.wait()
        yield started
    finally:
        started.kill()


def install(host: EmulatedHost) -> None:
    host.run("sh", "-euc", f"dpkg --install {_PLACE}/*.deb")


def state(host: EmulatedHost, verb: str, unit: str) -> str:
    return host.run("systemctl", verb, unit, check=False).stdout.strip()


def units(host: EmulatedHost) -> list[str]:
    return sorted(host.run("sh", "-c", f"cd {_UNITS} && ls -d vas-*").stdout.split())


def test_installed_used_and_removed(host: EmulatedHost) -> None:
    before = look(host)
    install(host)
    after = look(host)
    assert after["running"] == before["running"]
    assert not [path for path in after["files"] - before["files"] if ".wants/" in path]
    check_programs(host)
    check_units(host)
    host.run("dpkg", "--verify", *_NAMES)
    use_and_upgrade(host)
    host.run("dpkg", "--remove", *_NAMES)
    assert host.run("cat", "/etc/vas/cluster.yaml").stdout == "mine\n"
    host.run("rm", "-r", "/etc/vas")
    # The daemon's state, which `systemctl clean` would have removed before.
    host.run("rmdir", "/var/lib/vas")
    host.run("dpkg", "--purge", *_NAMES)
    left = differences(before, look(host)).splitlines()
    assert [line for line in left if not is_of_users(line)] == []


def is_of_users(line: str) -> bool:
    """Users stay, as files on Lustre may belong to them: their lines, and files that list them."""
    kind, _, text = line[2:].partition(": ")
    if kind == "files":
        return text.split("\t")[0] in ("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow")
    return kind in ("users", "groups") and text.split(":")[0] in _USERS


def check_programs(host: EmulatedHost) -> None:
    for program in ("vas", "vas-routed", "vas-affinityd"):
        assert "Usage:" in host.run(program, "--help").stdout
    for words in (["cluster"], ["route"], ["affinity", "plan"], ["guest"], ["shuffle", "gc"]):
        assert "Usage:" in host.run("vas", *words, "--help").stdout
    host.run(_PYTHON, "-c", _EVERY_MODULE)
    libraries = host.run(
        "sh", "-c", "find /usr/lib/vas -name '*311*.so' -o -name '*abi3.so' -o -path '*.libs/*.so*'"
    ).stdout.split()
    assert len(libraries) > 20
    assert "not found" not in host.run("ldd", *libraries).stdout
    # A user's modules, as modulefiles add them, are not the program's.
    poisoned = "mkdir -p /tmp/p && echo 1/0 >/tmp/p/click.py && PYTHONPATH=/tmp/p vas --version"
    assert host.run("sh", "-euc", poisoned).stdout.startswith("vas")
    caches = host.run("find", "/usr/lib/vas", "-name", "__pycache__").stdout
    assert caches == ""


def check_units(host: EmulatedHost) -> None:
    """Units are what systemd understands, off, and left off by their preset; users exist."""
    found = units(host)
    assert len(found) >= 10
    of_hadoop = "vas-nodemanager", "vas-resourcemanager", "vas-jobhistory"
    for unit in found:
        assert state(host, "is-enabled", unit) in ("disabled", "static"), unit
        host.run("systemctl", "preset", unit)
        assert state(host, "is-enabled", unit) in ("disabled", "static"), unit
        if not unit.startswith(of_hadoop):  # their Java comes with Hadoop
            file = f"{_UNITS}/{unit.replace('@.', '@x.')}"
            verified = host.run("systemd-analyze", "verify", "--man=no", file)
            assert verified.stderr == "", unit
    assert host.run("id", "-u", "yarn").stdout == "860\n"
    host.run("systemd-sysusers", "--dry-run", "vas.conf")


def use_and_upgrade(host: EmulatedHost) -> None:
    """The site's files and what it has enabled outlive an upgrade; a removal ends the latter."""
    host.run("sh", "-euc", "echo mine >/etc/vas/cluster.yaml")
    host.run("systemctl", "enable", "--now", _DAEMON)
    install(host)
    assert host.run("cat", "/etc/vas/cluster.yaml").stdout == "mine\n"
    assert state(host, "is-active", _DAEMON) == "active"
    assert state(host, "is-enabled", _DAEMON) == "enabled"


def test_the_release_has_sums_and_bills(packages: Path) -> None:
    found = {file.name for file in packages.iterdir()}
    debs = {name for name in found if name.endswith(".deb")}
    assert len(debs) == 2
    assert {f"{name}.cdx.json" for name in debs} < found
    bill = (packages / f"{min(debs)}.cdx.json").read_text()
    assert "pkg:pypi/pydantic@" in bill and "pkg:pypi/vas_lustre@" in bill
    assert str(REPOSITORY) not in bill
