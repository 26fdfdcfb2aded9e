"""A stand-in for Lustre that counts requests, and one check in it.

Modules beside the tests are imported by their names.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from accept_site import AcceptSite

from vas_lab.lustre.mds import client
from vas_lab.lustre.stand_in import LabLustre

NIDS = {ost: f"10.77.0.1{ost + 1}@tcp" for ost in range(4)}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AcceptSite]:
    """The file system of cluster/examples/laptop-lab.yaml: four OSTs, the pools fast and full."""
    state = tmp_path_factory.mktemp("accept")
    lab = LabLustre(state_dir=state, mount=state / "data", fsname="lab", osts=[0, 1, 2, 3])
    lab.prepare(NIDS)
    mds = subprocess.Popen(lab.mds_argv())
    try:
        lab.wait_ready()
        client.call(lab.socket, "count", on=True)
        yield AcceptSite(lab)
    finally:
        mds.terminate()
        assert mds.wait(10) == 0
