"""A running stand-in, without namespaces: the mount is a directory, the MDS a child process.

Modules beside the tests are imported by their names.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vas_core.process import Completed
from vas_lab.lustre.stand_in import LabLustre

sys.path.insert(0, str(Path(__file__).parent))

from stand_in import in_lab, start_lab, stop

Shell = Callable[..., Completed]


@pytest.fixture
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., LabLustre]]:
    """Starts a stand-in with its MDS: `start(fsname="lab", osts=[0, 1, 2, 3], ...)`."""
    running: list[subprocess.Popen[bytes]] = []

    def make(**changes: object) -> LabLustre:
        lab, mds = start_lab(tmp_path_factory.mktemp("lab"), **changes)
        running.append(mds)
        return lab

    yield make
    for mds in running:
        stop(mds)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabLustre]:
    """One for a whole module, like the one captured: testfs, 4 OSTs, pools fast and slow."""
    state = tmp_path_factory.mktemp("site")
    # Far from the identifiers of the captured files.
    (state / "mds.json").write_text('{"next": {"files": 1048576}, "pools": {}}')
    lab, mds = start_lab(state)
    for pool, osts in (("fast", "OST[0-1]"), ("slow", "OST[2-3]")):
        in_lab(lab, f"lctl pool_new testfs.{pool} && lctl pool_add testfs.{pool} {osts}")
    yield lab
    stop(mds)


@pytest.fixture
def shell(site: LabLustre) -> Shell:
    """Runs a shell command in the module's site."""
    return lambda command, **options: in_lab(site, command, **options)
