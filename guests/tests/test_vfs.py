"""Virtual functions: made once, never taken from somebody."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_core.errors import BadInput, FoundDifferent, NotHere
from vas_core.root import Root
from vas_guest.vfs import Adapter, make, read_adapter, steps

PF = "ens1f0"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An adapter with two VFs: a guest has one, the host a second whose interface is down."""
    device = tmp_path / f"sys/class/net/{PF}/device"
    for name in ("virtfn0", "virtfn1"):
        (device / name).mkdir(parents=True)
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
    assert read_adapter(Root(tree), PF) == Adapter(PF, 7, 2, ("virtfn0",))
    (tree / f"sys/class/net/{PF}/device/virtfn1/net/eth5/operstate").write_text("up\n")
    assert read_adapter(Root(tree), PF).used == ("virtfn0", "virtfn1")


@pytest.mark.parametrize("wished", [0, 1, 2])
def test_enough_is_left_as_it_is(tree: Path, wished: int) -> None:
    assert make(Root(tree), PF, wished, trust=True) == []


def test_more_are_not_made_while_a_guest_has_one(tree: Path) -> None:
    with pytest.raises(BadInput, match="shut the guests down that have virtfn0"):
        make(Root(tree), PF, 3, trust=False)
    assert (tree / f"sys/class/net/{PF}/device/sriov_numvfs").read_text() == "2\n"


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
    assert len(make(Root(tree), PF, 3, trust=False)) == 3
    assert (device / "sriov_numvfs").read_text() == "3"
    (device / "sriov_numvfs").unlink()
    (device / "sriov_numvfs").symlink_to("/dev/null")  # takes everything, and has nothing
    with pytest.raises(FoundDifferent, match="made 0 of 3"):
        make(Root(tree), PF, 3, trust=False)


def test_what_is_no_adapter_is_said(tree: Path) -> None:
    with pytest.raises(NotHere, match="no such interface"):
        read_adapter(Root(tree), "ens9")
    (tree / f"sys/class/net/{PF}/device/sriov_totalvfs").unlink()
    with pytest.raises(NotHere, match="has no SR-IOV"):
        read_adapter(Root(tree), PF)
