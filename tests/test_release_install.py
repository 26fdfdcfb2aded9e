"""A site installs VAS from a release's directory alone: in an empty HOME, without a network."""

from __future__ import annotations

import os
import sys
import tarfile
from pathlib import Path

import pytest

from vas_core.cli import run_command
from vas_core.distribution import own_version
from vas_core.process import Completed, run
from vas_core.repository import REPOSITORY

pytestmark = [
    *(pytest.mark.machine, pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)),
    pytest.mark.skipif(
        os.geteuid() != 0, reason="only root may make a namespace without a network"
    ),
]
EXAMPLE = REPOSITORY / "cluster/examples/four-oss.yaml"
PLAYBOOKS = ("site", "verify", "evacuate", "readmit", "rolling_upgrade", "teardown")
_LIBRARIES = {"numpy", "scipy", "simpy", "ansible-core"}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parts of a release that need no build, with the libraries for this Python."""
    out = tmp_path_factory.mktemp("release") / "out"
    python = f"--python={sys.version_info[0]}.{sys.version_info[1]}"
    words = ["--only=wheel", "--only=collection", "--with-dependencies", "--uncommitted", python]
    assert run_command(["release", "--out", str(out), *words]) == 0
    return out


class Installation:
    """A virtual environment of its own, and an empty HOME; no program in it reaches a network."""

    def __init__(self, directory: Path) -> None:
        self.home, self.environment = directory / "home", directory / "venv"
        self.home.mkdir()
        self.run(sys.executable, "-m", "venv", self.environment)

    def run(self, *words: str | Path, check: bool = True) -> Completed:
        """Runs a program in the HOME, found in the environment first; it has no other variables."""
        path = f"PATH={self.environment / 'bin'}:/usr/bin:/bin"
        alone = ("unshare", "-n", "env", "-i", "-C", self.home, f"HOME={self.home}", path)
        return run([*alone, *words], check=check)

    def install(self, found: Path, what: str) -> None:
        self.run("pip", "install", "-q", "--no-index", "--find-links", found, what)

    def libraries(self) -> set[str]:
        listed = self.run("pip", "list", "--disable-pip-version-check", "--format=freeze")
        return {line.partition("==")[0] for line in listed.stdout.splitlines()}


def test_a_guest_gets_the_program_and_none_of_the_extras(tmp_path: Path, release: Path) -> None:
    guest = Installation(tmp_path)
    guest.install(release, "vas-lustre")
    assert guest.libraries() & {*_LIBRARIES, "vas-lustre"} == {"vas-lustre"}
    assert guest.run("vas", "--version").stdout == f"vas, version {own_version()}\n"
    assert "Switch routes:" in guest.run("vas", "--help").stdout
    guest.run("vas", "cluster", "check", EXAMPLE)
    told = guest.run("vas", "bench", "stats", "--help", check=False)
    assert told.status == 77 and "pip install 'vas-lustre[" in told.stderr


def test_a_node_installs_from_the_archive_of_wheels(tmp_path: Path, release: Path) -> None:
    node = Installation(tmp_path)
    (archive,) = release.glob("vas-wheels-*.tar")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    node.install(tmp_path / "wheels", "vas-lustre[affinity,bench]")
    assert node.libraries() & _LIBRARIES == _LIBRARIES - {"ansible-core"}
    assert "Usage" in node.run("vas", "affinity", "plan", "--help").stdout


def test_a_controller_plays_from_the_installed_collection(tmp_path: Path, release: Path) -> None:
    controller = Installation(tmp_path)
    controller.install(release, "vas-lustre[provision]")
    (collection,) = release.glob("vas-site-*.tar.gz")
    controller.run("ansible-galaxy", "collection", "install", collection, "--offline")
    controller.run("ansible-galaxy", "collection", "verify", "vas.site", "--offline")
    inventory = tmp_path / "vas.yml"
    inventory.write_text(f"plugin: vas.site.vas_cluster\nfile: {EXAMPLE}\n")
    play = ("ansible-playbook", "-i", inventory)
    for name in PLAYBOOKS:
        shown = controller.run(*play, f"vas.site.{name}", "--syntax-check").stdout
        assert f"ansible_collections/vas/site/playbooks/{name}.yml" in shown
    checked = controller.run(*play, "vas.site.site", "--check", check=False)
    assert "vas_program_archive: is not set; name the archive" in checked.stdout + checked.stderr
    assert checked.status == 2
    units = controller.home / ".ansible/collections/ansible_collections/vas/site/roles"
    assert (units / "route_switcher/files/vas-routed.service").is_file()
    assert not [path for path in units.rglob("*") if path.is_symlink()]
