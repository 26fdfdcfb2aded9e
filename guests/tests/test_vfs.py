"""Virtual functions: made once, never taken from somebody."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vas_core.errors import BadInput, FoundDifferent, NotHere
from vas_core.process import Completed
from vas_core.root import Root
from vas_guest.pool import carrying, read_pool, write_pool
from vas_guest.vfs import Adapter, make, pool, read_adapter, steps

PF = "ens1f0"
VF0, VF1, VF2, VF3 = (f"0000:03:10.{number}" for number in (0, 2, 4, 6))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An adapter with two VFs: a guest has one, the host a second whose interface is down."""
    device = tmp_path / f"sys/class/net/{PF}/device"
    device.mkdir(parents=True)
    for name, address in (("virtfn0", VF0), ("virtfn1", VF1)):
        (device.parent / address).mkdir()
        (device / name).symlink_to(f"../{address}")
    (device / "virtfn0/driver").symlink_to("../../../bus/pci/drivers/vfio-pci")
    (device / "virtfn1/net/eth5").mkdir(parents=True)
    (device / "virtfn1/net/eth5/operstate").write_text("down\n")
    (device.parent / "address").write_text("52:54:00:77:01:00\n")
    for name, text in (
        ("sriov_totalvfs", "7"),
        ("sriov_numvfs", "2"),
        ("sriov_drivers_autoprobe", "1"),
    ):
        (device / name).write_text(f"{text}\n")
    return tmp_path


def test_who_has_a_vf_is_seen(tree: Path) -> None:
    assert read_adapter(Root(tree), PF) == Adapter(PF, 7, 2, ("virtfn0",), (VF0, VF1))
    (tree / f"sys/class/net/{PF}/device/virtfn1/net/eth5/operstate").write_text("up\n")
    assert read_adapter(Root(tree), PF).used == ("virtfn0", "virtfn1")


@pytest.mark.parametrize("wished", [0, 1, 2])
def test_enough_is_left_as_it_is(tree: Path, wished: int) -> None:
    assert make(Root(tree), PF, wished, interrupt=False) == []


def test_more_are_not_made_while_a_guest_has_one(tree: Path) -> None:
    with pytest.raises(BadInput, match="shut the guests down that have virtfn0"):
        make(Root(tree), PF, 3, interrupt=False)
    assert (tree / f"sys/class/net/{PF}/device/sriov_numvfs").read_text() == "2\n"


def test_a_pf_that_is_up_is_interrupted_only_where_that_is_allowed(tree: Path) -> None:
    device = tree / f"sys/class/net/{PF}/device"
    (device / "virtfn0/driver").unlink()
    (device.parent / "operstate").write_text("up\n")
    assert make(Root(tree), PF, 2, interrupt=False) == []
    with pytest.raises(BadInput, match="may interrupt the storage's traffic"):
        make(Root(tree), PF, 3, interrupt=False)
    assert (device / "sriov_numvfs").read_text() == "2\n"
    assert make(Root(tree), PF, 3, interrupt=True) != []
    assert (device / "sriov_numvfs").read_text() == "3"


FOUR = Adapter(PF, 7, 4, ("virtfn0", "virtfn2"), (VF0, VF1, VF2, VF3))


@pytest.mark.parametrize(
    ("wished", "ours", "chosen"),
    [
        (2, [], [VF1, VF3]),
        (1, [VF3], [VF3]),
        (2, [VF2], [VF1, VF2]),
        (3, [VF2, "0000:81:10.0"], [VF1, VF2, VF3]),
        (1, [VF0, VF1, VF2], [VF0, VF2]),
        (0, [], []),
    ],
)
def test_the_pool_is_what_was_vass_and_what_nobody_uses(
    wished: int, ours: list[str], chosen: list[str]
) -> None:
    assert pool(FOUR, wished, ours) == tuple(chosen)


def test_a_pool_that_is_too_small_names_who_uses_the_others() -> None:
    with pytest.raises(BadInput, match=f"virtual functions: 2 .* end the use of {VF0}, {VF2},"):
        pool(FOUR, 3, [])


def test_the_pool_is_kept(tmp_path: Path) -> None:
    root = Root(tmp_path)
    assert read_pool(root, PF) == ()
    write_pool(root, PF, [VF0, VF2])
    assert read_pool(root, PF) == (VF0, VF2)
    assert read_pool(root, "ens2f0") == ()
    (tmp_path / "var/lib/vas/vfs.json").write_text("{")
    with pytest.raises(BadInput, match=r"vfs\.json: is not JSON"):
        read_pool(root, PF)


def test_a_vf_with_the_mac_of_a_guest_is_its(monkeypatch: pytest.MonkeyPatch) -> None:
    # As `ip -json link show dev PF` of iproute2 6.1 has them.
    vfs = [{"vf": n, "address": f"52:54:00:77:0{n}:01", "trust": False} for n in range(4)]
    said = Completed(("ip",), 0, json.dumps([{"ifname": PF, "vfinfo_list": vfs}]), "")
    monkeypatch.setattr("vas_guest.trust.run", lambda argv: said)
    assert carrying(FOUR, ["52:54:00:77:02:01", "52:54:00:77:09:01"]) == [VF2]
    assert carrying(FOUR, []) == []


def test_more_than_the_adapter_can_have_is_refused() -> None:
    with pytest.raises(NotHere, match="can have 7"):
        steps(Adapter(PF, 7, 0, ()), 8)


def test_first_the_hosts_drivers_are_kept_off() -> None:
    todo = [(step.file, step.value) for step in steps(Adapter(PF, 7, 0, ()), 3)]
    assert todo == [("sriov_drivers_autoprobe", "0"), ("sriov_numvfs", "3")]
    again = [(step.file, step.value) for step in steps(Adapter(PF, 7, 1, ()), 3)]
    assert again == [todo[0], ("sriov_numvfs", "0"), todo[1]]


def test_the_number_is_read_back(tree: Path) -> None:
    device = tree / f"sys/class/net/{PF}/device"
    (device / "virtfn0/driver").unlink()
    assert len(make(Root(tree), PF, 3, interrupt=False)) == 3
    assert (device / "sriov_numvfs").read_text() == "3"
    (device / "sriov_numvfs").unlink()
    (device / "sriov_numvfs").symlink_to("/dev/null")  # takes everything, and has nothing
    with pytest.raises(FoundDifferent, match="made 0 of 3"):
        make(Root(tree), PF, 3, interrupt=False)


def test_what_is_no_adapter_is_said(tree: Path) -> None:
    with pytest.raises(NotHere, match="no such interface"):
        read_adapter(Root(tree), "ens9")
    (tree / f"sys/class/net/{PF}/device/sriov_totalvfs").unlink()
    with pytest.raises(NotHere, match="has no SR-IOV"):
        read_adapter(Root(tree), PF)
