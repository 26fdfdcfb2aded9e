"""The journal follows interfaces that were renamed."""

from __future__ import annotations

from pathlib import Path

from vas_core.journal import Journal, JournalEntry
from vas_routing.renames import follow, followed, indices, orphans


def entry(target: str, original: str | None) -> JournalEntry:
    return JournalEntry(target=target, original=original)


PF = [entry("device:pf0", "7"), entry("sysctl:net/ipv4/conf/pf0/rp_filter", "1")]
HOP = [entry("device:br0", "8"), entry("address:br0:169.254.213.1/30", None)]


def test_H9_entries_move_with_the_interface() -> None:
    found = followed([*PF, *HOP], {7: "ens1", 8: "br0"})
    assert [e.target for e in found] == [
        "device:ens1",
        "sysctl:net/ipv4/conf/ens1/rp_filter",
        "device:br0",
        "address:br0:169.254.213.1/30",
    ]
    assert [e.original for e in found][:2] == ["7", "1"]


def test_H9_an_interface_that_is_gone_or_unknown_moves_nothing() -> None:
    assert followed([*PF], {8: "pf0"}) == PF
    old = [entry("sysctl:net/ipv4/conf/pf0/rp_filter", "1")]
    assert followed(old, {7: "ens1"}) == old, "of a daemon that did not note the index"


def test_H9_two_that_swap_their_names(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal.json") as journal:
        for each in (*PF, *HOP):
            journal.remember({each.target: each.original})
        follow(journal, {7: "br0", 8: "pf0"})
    kept = {e.target: e.original for e in Journal.peek(tmp_path / "journal.json")}
    assert kept == {
        "device:br0": "7",
        "sysctl:net/ipv4/conf/br0/rp_filter": "1",
        "device:pf0": "8",
        "address:pf0:169.254.213.1/30": None,
    }


def test_H9_ipv6_addresses_keep_their_colons() -> None:
    found = followed([entry("device:br0", "8"), entry("address:br0:fe80::1/64", None)], {8: "b"})
    assert found[1].target == "address:b:fe80::1/64"


def test_H9_indices_are_noted_and_given_up() -> None:
    targets = ["sysctl:net/ipv4/conf/pf0/rp_filter", "address:gone:10.0.0.1/32"]
    assert indices(targets, {"pf0": 7}) == {"device:pf0": "7"}
    assert orphans(PF[:1] + HOP) == ["device:pf0"]
    assert orphans(PF + HOP) == []
