"""Requests to the OSTs that map output makes, call by call, on the stand-in that counts them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_lab.lustre.mds import client
from vas_lab.lustre.stand_in import LabLustre
from vas_lab.spec import find_java
from vas_yarn.jars import find_hadoop, find_plugins

pytestmark = pytest.mark.slow
SOURCE = Path(__file__).parent / "vas_tests/java/MapOutputRequests.java"
MAPS, REDUCERS = 4, 3


@pytest.fixture
def site(tmp_path: Path) -> Iterator[LabLustre]:
    """A stand-in for Lustre with four OSTs, which counts requests."""
    lab = LabLustre(state_dir=tmp_path, mount=tmp_path / "data", fsname="testfs", osts=[0, 1, 2, 3])
    lab.prepare()
    mds = subprocess.Popen(lab.mds_argv())
    try:
        lab.wait_ready()
        client.call(lab.socket, "count", on=True)
        yield lab
    finally:
        mds.terminate()
        assert mds.wait(10) == 0


def test_R4_map_output_asks_for_no_size(site: LabLustre) -> None:
    """A reducer takes the length of each file from its manifest, and reads the ends of segments.

    Each map syncs its manifest, and leaves two objects: its output and its manifest.
    """
    path = f"{find_hadoop()}/*:{find_plugins()}"
    java = [str(find_java() / "bin/java"), "-Xmx200m", "-cp", path, str(SOURCE)]
    words = [str(site.mount), str(site.state_dir / "board"), str(MAPS), str(REDUCERS)]
    done = subprocess.run(
        [*java, *words], env=site.environment(), text=True, capture_output=True, timeout=110
    )
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stdout.splitlines() if "glimpses" in line]
    assert told == [
        f"maps: 0 glimpses, {MAPS} syncs, 0 destroys",
        f"reducers: 0 glimpses, {MAPS} syncs, 0 destroys",
        f"removed: 0 glimpses, {MAPS} syncs, {2 * MAPS} destroys",
    ]
