"""The layout commands on the lab's Lustre: the product's own system calls, end to end."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_lab.control import ControlRequest
from vas_lab.lab import Lab
from vas_tests.in_lab import inside, vas, vas_json

pytestmark = pytest.mark.slow
MIB = 1 << 20


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """7.5 MiB that no stripe order but the right one gives back."""
    path = tmp_path_factory.mktemp("source") / "data"
    path.write_bytes(os.urandom(15 * MIB // 2))
    return path


@pytest.fixture
def stored(lab: Lab, source: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The same, put into the lab with stripes of 1 MiB over all OSTs."""
    target = inside(lab, f"{request.node.name}.data")
    lab.call(["rm", "-f", str(target)])
    vas(lab, "layout", "put", "--split", "1M", str(source), str(target))
    yield target
    lab.call(["rm", "-f", str(target)])


def empty(lab: Lab, name: str) -> Path:
    """A directory of the lab's Lustre; a lab keeps what a run left that was interrupted."""
    directory = inside(lab, name)
    lab.call(["rm", "-rf", str(directory)])
    lab.call(["mkdir", str(directory)])
    return directory


def test_put_gives_one_split_per_stripe_and_the_same_bytes(
    lab: Lab, source: Path, stored: Path
) -> None:
    lab.call(["cmp", str(source), str(stored)])
    (shown,) = vas_json(lab, "layout", "show", str(stored))
    assert (shown["layout"]["stripe_size"], shown["layout"]["stripe_count"]) == (MIB, 4)
    placements = vas_json(lab, "layout", "locate", str(stored))["ranges"]
    assert [p["length"] for p in placements] == [MIB] * 7 + [MIB // 2]
    osts = [o["ost_idx"] for o in shown["layout"]["objects"]]
    assert [p["ost"] for p in placements] == [osts[k % 4] for k in range(8)]
    assert all(p["vm"] == f"vm{p['ost'] + 1}" and p["source"] == "client" for p in placements)


def test_locality_shares_add_up(lab: Lab, source: Path, stored: Path) -> None:
    shares = vas_json(lab, "layout", "locality", str(stored))
    sizes = {share["vm"]: share["owned_bytes"] for share in shares["owners"]}
    assert set(sizes) == {"vm1", "vm2", "vm3", "vm4"}
    assert sum(sizes.values()) == source.stat().st_size


def test_a_failed_over_ost_is_found_at_its_partner(lab: Lab, stored: Path) -> None:
    def owner_of_ost_1() -> set[tuple[str, str]]:
        placements = vas_json(lab, "layout", "locate", str(stored))["ranges"]
        return {(p["oss"], p["vm"]) for p in placements if p["ost"] == 1}

    assert owner_of_ost_1() == {("oss2", "vm2")}
    lab.ask(ControlRequest(ask="serve", ost=1, nid="10.77.0.11@tcp"))
    try:
        assert owner_of_ost_1() == {("oss1", "vm1")}
    finally:
        lab.ask(ControlRequest(ask="serve", ost=1, nid="10.77.0.12@tcp"))
    assert owner_of_ost_1() == {("oss2", "vm2")}


def test_fix_migrates_what_breaks_its_splits(lab: Lab, source: Path) -> None:
    directory = empty(lab, "to-fix")
    target = directory / "small stripes"
    lab.call(["lfs", "setstripe", "-S", "64k", "-c", "4", str(target)])
    lab.call(["dd", f"if={source}", f"of={target}", "conv=notrunc", "status=none"])
    try:
        (found,) = vas_json(lab, "layout", "fix", "--split", "1M", str(directory))
        assert found["path"] == str(target)
        vas(lab, "layout", "fix", "--split", "1M", "--apply", str(directory))
        assert vas_json(lab, "layout", "fix", "--split", "1M", str(directory)) == []
        lab.call(["cmp", str(source), str(target)])
    finally:
        lab.call(["rm", "-r", str(directory)])


def test_R2_fix_keeps_mirrors_and_pools_and_is_content_with_the_pool(
    lab: Lab, source: Path
) -> None:
    directory = empty(lab, "to-keep")
    script = (
        "lctl pool_new lab.few; lctl pool_add lab.few OST[0-1]; cd $0"
        " && lfs setstripe -N2 -S 64k -c 2 mirrored && lfs setstripe -p few -S 64k -c 2 pooled"
        " && dd if=$1 of=mirrored conv=notrunc status=none"
        " && dd if=$1 of=pooled conv=notrunc status=none"
    )
    lab.call(["bash", "-c", script, str(directory), str(source)])
    words = ("layout", "fix", "--split", "1M", str(directory))
    try:
        first = {Path(f["path"]).name: f for f in vas_json(lab, *words, "--apply")}
        assert first["mirrored"]["result"] == "left alone"
        assert first["pooled"]["result"] == "migrated"
        second = vas_json(lab, *words, "--apply")
        assert [Path(f["path"]).name for f in second] == ["mirrored"]
        shown = vas_json(lab, "layout", "show", f"{directory}/mirrored", f"{directory}/pooled")
        assert shown[0]["layout"]["mirror_count"] == 2
        assert (shown[1]["layout"]["pool"], shown[1]["layout"]["stripe_count"]) == ("few", 2)
        lab.call(["cmp", str(source), f"{directory}/pooled"])
    finally:
        lab.call(["rm", "-r", str(directory)])


def test_H6_fix_leaves_a_file_in_use_alone(lab: Lab, source: Path) -> None:
    directory = empty(lab, "in-use")
    script = "lfs setstripe -S 64k -c 4 $0/f && dd if=$1 of=$0/f conv=notrunc status=none"
    lab.call(["bash", "-c", script, str(directory), str(source)])
    fix = f"{sys.executable} -m vas_core layout fix --split 1M --apply --json {directory}"
    try:
        held = lab.call(["bash", "-c", f"exec 7<{directory}/f; {fix}"])
        (found,) = json.loads(held.stdout)
        assert found["result"] == "in use, left alone"
        (found,) = vas_json(lab, *fix.split()[3:-2], str(directory))
        assert found["result"] == "migrated"
    finally:
        lab.call(["rm", "-r", str(directory)])


def test_lfs_and_the_attribute_say_the_same(lab: Lab, stored: Path) -> None:
    (shown,) = vas_json(lab, "layout", "show", str(stored))
    lines = lab.call(["lfs", "getstripe", "-y", str(stored)]).stdout.splitlines()
    fids = [line.split()[-1] for line in lines if "l_fid" in line]
    assert fids == [o["fid"] for o in shown["layout"]["objects"]]


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.usefixtures("stored")
def test_the_attribute_is_at_least_50_times_as_fast_as_lfs(lab: Lab) -> None:
    result = vas_json(lab, "bench", "layout", "--dir", str(inside(lab)))
    assert result["ratio"] >= 50, result


def test_a_path_outside_lustre_is_refused_in_one_line(lab: Lab) -> None:
    argv = [sys.executable, "-m", "vas_core", "layout", "show", "/etc/hostname"]
    refused = lab.call(argv, check=False)
    assert refused.status != 0
    assert refused.stderr.count("\n") == 1
    assert "/etc/hostname" in refused.stderr
