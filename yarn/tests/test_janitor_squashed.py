"""N7: the janitor behind a nodemap that makes its root a user like any other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_rm import FakeRm
from map_output import JOB, publish

from vas_core.predictable_names import JANITOR, QUARANTINE_PREFIX

pytestmark = [
    pytest.mark.machine,
    pytest.mark.unhurried,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away"),
]

MAPRED, BOB, CAROL = 4000, 4001, 4003
# A root without capabilities, as the server of a squashed one treats it: modes count for it.
_SQUASHED = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
_VAS = (sys.executable, "-P", "-m", "vas_core")


@pytest.fixture
def staging(tmp_path: Path, rm: FakeRm) -> Path:
    """Two users with an ended job each; bob has one in quarantine besides."""
    root = tmp_path / "staging"
    for user, uid in (("bob", BOB), ("carol", CAROL)):
        publish(root / user / ".staging" / JOB, 0, [100])
        if user == "bob":
            (root / user / ".staging" / f"{QUARANTINE_PREFIX}.{JOB}.1000" / "shuffle").mkdir(
                parents=True
            )
        for path in (root / user, *(root / user).rglob("*")):
            os.chown(path, uid, uid)
        (root / user).chmod(0o700)
    os.chown(root, MAPRED, MAPRED)
    root.chmod(0o755)
    rm.over(JOB, hours_ago=100)
    return root


def gc(rm: FakeRm, staging: Path, *before: str) -> tuple[int, list[dict[str, object]], str]:
    words = ["shuffle", "gc", "--staging", str(staging), "--resourcemanager", rm.url, "--json"]
    done = subprocess.run(
        [*before, *_VAS, *words], capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, json.loads(done.stdout or "[]"), done.stderr


def files(staging: Path) -> list[Path]:
    return sorted(path for path in staging.rglob("*") if not path.name.startswith(".vas-janitor"))


def test_N7_a_squashed_root_is_refused_by_name_and_removes_nothing(
    rm: FakeRm, staging: Path
) -> None:
    before = files(staging)
    _, rows, said = gc(rm, staging, *_SQUASHED)
    assert {row["where"] for row in rows} == {"bob/.staging", "carol/.staging"}, said
    assert {row["verdict"] for row in rows} == {"refused"}
    assert all("Permission denied" in str(row["why"]) for row in rows)
    assert "Traceback" not in said
    assert files(staging) == before


def test_N7_without_its_memory_every_directory_is_told_and_none_is_removed(
    rm: FakeRm, staging: Path
) -> None:
    (staging / "carol").chmod(0o755)
    before = files(staging)
    status, rows, said = gc(rm, staging, *_SQUASHED)
    verdicts = {str(row["where"]): (row["verdict"], row["done"]) for row in rows}
    assert verdicts["bob/.staging"] == ("refused", False), said
    assert verdicts[f"carol/.staging/{JOB}"] == ("quarantine", False), "it would, and may not"
    assert verdicts[JANITOR.of()] == ("refused", False)
    assert (status, "nothing is removed in this run" in said) == (1, True), said
    assert files(staging) == before


def test_N7_a_root_that_is_root_removes_both(rm: FakeRm, staging: Path) -> None:
    status, rows, said = gc(rm, staging)
    assert status == 0, said
    assert not list(staging.glob(f"*/.staging/{JOB}")), rows
