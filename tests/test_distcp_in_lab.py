"""`hadoop distcp` between `file:///` and `lustre:///` on the lab's YARN: bytes, and layouts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from vas_lab.lab import Lab
from vas_tests.in_lab import inside

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(600)]
_STRIPE = 2 << 20
_FILES = {"large": 5 * _STRIPE + 7, "small": 100, "below/empty": 0}


def distcp(lab: Lab, *words: str) -> None:
    """Copies with two maps. Raises CommandFailed if the job fails."""
    lab.call(["hadoop", "distcp", f"-Dvas.lustre.block-size={_STRIPE}", "-m", "2", *words])


def test_files_arrive_with_layouts_and_come_back_as_they_were(lab: Lab, tmp_path: Path) -> None:
    source, back = tmp_path / "in", tmp_path / "back"
    for name, size in _FILES.items():
        file = source / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(random.Random(name).randbytes(size))
    place = inside(lab, "distcp-file")
    lab.call(["rm", "-rf", str(place)])
    distcp(lab, source.as_uri(), f"lustre:///{place.name}")
    assert lab.call(["diff", "-r", str(source), str(place)], check=False).status == 0
    for name in _FILES:
        stripe = lab.call(["lfs", "getstripe", "-S", str(place / name)]).stdout
        assert int(stripe) == _STRIPE, f"{name} has stripes of another size"
    distcp(lab, f"lustre:///{place.name}", back.as_uri())
    # Hadoop's local file system puts a file of checksums beside each.
    diff = ["diff", "-r", "-x", ".*.crc", str(source), str(back)]
    assert lab.call(diff, check=False).status == 0
