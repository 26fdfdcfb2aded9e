"""Each check passes on the stand-in, and fails where the thing that it checks is broken."""

from __future__ import annotations

import shlex
import sys
import threading
from typing import Any

import pytest
from accept_site import CLUSTER, AcceptSite

from vas_accept.catalogue import CHECKS
from vas_accept.checks.java import SUITES
from vas_accept.checks.layouts import KINDS
from vas_core.polling import poll
from vas_core.repository import REPOSITORY

pytestmark = [pytest.mark.machine, pytest.mark.unhurried]

# Tells other stripes than the file has, whatever they are.
OTHER_STRIPES = r"""
case $1 in
getstripe) "$REAL" "$@" | sed 's/\(stripe_size: *\)[0-9]*/\1131072/' ;;
*) exec "$REAL" "$@" ;;
esac
"""
# Counts the requests to each OST at its neighbour.
OTHER_OSTS = r"""
"$REAL" "$@" | sed 's/OST0000-/OSTx-/; s/OST0001-/OST0000-/; s/OSTx-/OST0001-/
s/OST0002-/OSTx-/; s/OST0003-/OST0002-/; s/OSTx-/OST0003-/'
"""
# A copy tool, which the stand-in has not: a release leaves what was captured of a real one.
VECTOR = REPOSITORY / "lustre-layout/vectors/hsm-released.bin"
SET = "import os, sys; os.setxattr(sys.argv[1], 'user.lustre.lov', open(sys.argv[2], 'rb').read())"
COPY_TOOL = f"""
case $1 in
hsm_archive | hsm_remove) ;;
hsm_state) echo "$2: (0x00000009) exists archived, archive_id:1" ;;
hsm_release) LD_PRELOAD= {shlex.join((sys.executable, "-c", SET))} "$2" {VECTOR} ;;
*) exec "$REAL" "$@" ;;
esac
"""
NO_RELEASE = COPY_TOOL.replace("hsm_archive |", "hsm_archive | hsm_release |")
NO_MIGRATION = '[ "$1" = migrate ] || exec "$REAL" "$@"'


def passed(result: dict[str, Any]) -> dict[str, Any]:
    assert result["status"] == "passed", result
    return result


def failed(result: dict[str, Any]) -> dict[str, Any]:
    assert result["status"] == "failed", result
    assert result["expected"] and result["seen"] and result["meaning"] and result["fix"], result
    return result


@pytest.mark.parametrize(
    "kind", [k.name for k in KINDS if k.name not in ("pool", "self-extending")]
)
def test_layouts(site: AcceptSite, kind: str) -> None:
    passed(site.check(f"layout-{kind}"))
    broken = failed(site.check(f"layout-{kind}", programs={"lfs": OTHER_STRIPES}))
    assert "stripe_size = 131072" in broken["expected"]


def test_layouts_of_pools(site: AcceptSite) -> None:
    assert site.check("layout-pool")["status"] == "not applicable"
    site.shell("lctl pool_new lab.fast && lctl pool_add lab.fast OST[0-1]")
    try:
        passed(site.check("layout-pool"))
        failed(site.check("layout-pool", programs={"lfs": OTHER_STRIPES}))
    finally:
        site.shell("lctl pool_remove lab.fast OST[0-1] && lctl pool_destroy lab.fast")


def test_counters_of_osts(site: AcceptSite) -> None:
    assert "31 sampled offsets" in passed(site.check("ost-counters"))["seen"]
    failed(site.check("ost-counters", programs={"lctl": OTHER_OSTS}))


@pytest.mark.parametrize(
    ("check", "broken"),
    [
        ("set-without-process", "no_setxattr"),
        ("directory-default", "no_setxattr"),
        ("one-winner", "rename_replaces"),
        ("put-resume", "forgetful_put"),
        ("sync-time", "slow_fsync"),
        ("sync-requests", "no_fsync"),
    ],
)
def test_calls(site: AcceptSite, check: str, broken: str) -> None:
    passed(site.check(check))
    failed(site.check(check, broken=broken))


def test_fix(site: AcceptSite) -> None:
    passed(site.check("fix"))
    failed(site.check("fix", programs={"lfs": NO_MIGRATION}))


def test_released_files(site: AcceptSite) -> None:
    assert site.check("released", hsm=True)["status"] == "not applicable"
    passed(site.check("released", hsm=True, programs={"lfs": COPY_TOOL}))
    failed(site.check("released", hsm=True, programs={"lfs": NO_RELEASE}))


def test_owners(site: AcceptSite) -> None:
    root = site.root()
    options = {"cluster": str(CLUSTER), "root": str(root)}
    passed(site.check("owners", **options))
    site.serve(root, 1, "192.0.2.7@tcp")
    assert "192.0.2.7@tcp" in failed(site.check("owners", **options))["seen"]


@pytest.mark.parametrize(
    ("nid", "broken"), [("10.77.0.11@tcp", ""), ("192.0.2.7@tcp", "impatient")]
)
def test_failover(site: AcceptSite, nid: str, broken: str) -> None:
    root = site.root()
    told: list[dict[str, Any]] = []
    options = {"cluster": str(CLUSTER), "root": str(root), "failover": True}

    def run() -> None:
        told.append(site.check("failover", broken=broken, **options))

    thread = threading.Thread(target=run)
    thread.start()
    # The operator acts once the check waits: its last file is on the last OST.
    poll(lambda: [*site.lab.mount.glob("*/failover/on-ost-3")], bool, 30, "the check to wait")
    site.serve(root, 1, nid)
    thread.join()
    result = failed(told[0]) if broken else passed(told[0])
    assert nid in str(result)


@pytest.mark.parametrize("mode", ["flock", "noflock"])
def test_locks(site: AcceptSite, mode: str) -> None:
    """The stand-in's locks are this machine's own, as those of localflock."""
    passed(site.check("locks", root=str(site.root("localflock"))))
    root = str(site.root(mode))
    assert mode in failed(site.check("locks", root=root))["expected"]


@pytest.mark.parametrize("second", ["noflock", "localflock"])
def test_locks_of_two_mounts(site: AcceptSite, second: str) -> None:
    """Here both mounts are one client, which Lustre's never are."""
    root = str(site.root("localflock", second))
    assert str(site.lab.state_dir / "second") in failed(site.check("locks", root=root))["expected"]


def test_locks_of_another_mode_than_the_maps(site: AcceptSite) -> None:
    root = str(site.root("localflock"))
    broken = failed(site.check("locks", root=root, cluster=str(CLUSTER)))
    assert broken["seen"] == "localflock"


def test_full_pools(site: AcceptSite) -> None:
    site.shell("lctl pool_new lab.full && lctl pool_add lab.full OST0003")
    ballast = site.lab.state_dir / "ost/OST0003/ballast"
    ballast.parent.mkdir(parents=True, exist_ok=True)
    try:
        failed(site.check("full-pool", broken="little_room", small_pool="full"))
        ballast.write_text("16GiB")
        site.shell("sleep 1")
        assert "ENOSPC" in passed(site.check("full-pool", small_pool="full"))["seen"]
    finally:
        ballast.unlink(missing_ok=True)
        site.shell("lctl pool_remove lab.full OST0003 && lctl pool_destroy lab.full")


def test_a_quota_that_is_none(site: AcceptSite) -> None:
    directory = str(site.lab.mount)
    failed(site.check("quota", broken="little_quota", quota_directory=directory))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("suite", ["filesystem", "symlink"])
def test_contracts(site: AcceptSite, suite: str) -> None:
    assert "passed" in passed(site.check(f"contract-{suite}"))["seen"]
    failed(site.check(f"contract-{suite}", lustre=False))


@pytest.mark.slow
@pytest.mark.long
def test_the_shuffle(site: AcceptSite) -> None:
    """Map output needs layouts; a plain directory has none."""
    assert "packed: stock's output, 8 files" in passed(site.check("shuffle"))["seen"]
    failed(site.check("shuffle", lustre=False))


def test_every_check_is_broken_here() -> None:
    here = {f"layout-{kind.name}" for kind in KINDS} | {f"contract-{s.lower()}" for s in SUITES}
    here |= {"ost-counters", "set-without-process", "directory-default", "one-winner"}
    here |= {
        "put-resume",
        "sync-time",
        "sync-requests",
        "fix",
        "released",
        "owners",
        "failover",
        "locks",
    }
    assert {check.name for check in CHECKS} == here | {"full-pool", "quota", "shuffle", "terasort"}
