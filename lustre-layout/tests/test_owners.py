"""OST to host as a client's sysfs tells it, from trees made like the captured ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from layout_samples import site

from vas_core.root import Root
from vas_layout.owners import OstOwners, Source


class Client:
    """A client's sysfs in a directory, and a clock."""

    def __init__(self, directory: Path) -> None:
        self.root = Root(directory)
        self.now = 100.0

    def sees(self, ost: int, nid: str, instance: str = "ff1a6a7c42f21000") -> None:
        directory = self.root.path(f"sys/fs/lustre/osc/lab-OST{ost:04x}-osc-{instance}")
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "ost_conn_uuid").write_text(f"{nid}\n")

    def is_at(self, address: str) -> None:
        path = self.root.path("proc/net/fib_trie")
        path.parent.mkdir(parents=True)
        path.write_text(
            f"Main:\n  |-- 10.0.0.9\n     /32 link UNICAST\n  |-- {address}\n     /32 host LOCAL\n"
        )

    def owners(self, instance: str | None = None) -> OstOwners:
        return OstOwners(site(), root=self.root, instance=lambda: instance, clock=lambda: self.now)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


def _name(owners: OstOwners, ost: int) -> tuple[str | None, Source]:
    owner = owners.owner(ost)
    return owner.host.name if owner.host else None, owner.source


def test_the_client_comes_before_the_map(client: Client) -> None:
    client.sees(0, "10.77.0.12@tcp")
    owners = client.owners()
    assert _name(owners, 0) == ("oss2", Source.CLIENT)
    assert _name(owners, 1) == ("oss2", Source.MAP)
    assert _name(owners, 99) == (None, Source.UNKNOWN)


def test_any_nid_of_a_multi_rail_server_names_it(client: Client) -> None:
    client.sees(0, "10.78.0.11@tcp1")
    assert _name(client.owners(), 0) == ("oss1", Source.CLIENT)


def test_failover_is_seen_after_the_ttl(client: Client) -> None:
    client.sees(0, "10.77.0.11@tcp")
    owners = client.owners()
    assert _name(owners, 0)[0] == "oss1"
    client.sees(0, "10.77.0.12@tcp")
    client.now += 4
    assert _name(owners, 0)[0] == "oss1"
    client.now += 2
    assert _name(owners, 0)[0] == "oss2"


def test_a_miss_reads_again_but_not_in_a_storm(client: Client) -> None:
    client.sees(0, "10.77.0.11@tcp")
    owners = client.owners()
    assert _name(owners, 10) == (None, Source.UNKNOWN)
    client.sees(10, "10.77.0.12@tcp")
    assert _name(owners, 10) == (None, Source.UNKNOWN)
    client.now += 1.5
    assert _name(owners, 10) == ("oss2", Source.CLIENT)


def test_loopback_is_this_host(client: Client) -> None:
    client.sees(0, "0@lo")
    client.is_at("10.77.0.12")
    assert _name(client.owners(), 0) == ("oss2", Source.CLIENT)


def test_loopback_on_a_host_not_in_the_map_falls_back_to_it(client: Client) -> None:
    client.sees(0, "0@lo")
    client.is_at("192.0.2.1")
    assert _name(client.owners(), 0) == ("oss1", Source.MAP)


def test_a_nid_not_in_the_map_falls_back_to_it(client: Client) -> None:
    client.sees(0, "192.0.2.1@tcp")
    assert _name(client.owners(), 0) == ("oss1", Source.MAP)


def test_the_mdts_own_imports_are_not_the_clients(client: Client) -> None:
    client.sees(0, "10.77.0.12@tcp", instance="MDT0000")
    assert _name(client.owners(), 0) == ("oss1", Source.MAP)


def test_instances_that_disagree_are_told_apart_by_the_mounts_own(client: Client) -> None:
    client.sees(0, "10.77.0.11@tcp", instance="00aa")
    client.sees(0, "10.77.0.12@tcp", instance="ff01")
    assert _name(client.owners("ff01"), 0) == ("oss2", Source.CLIENT)
    assert _name(client.owners("00aa"), 0) == ("oss1", Source.CLIENT)
    assert _name(client.owners(None), 0) == ("oss1", Source.MAP)


def test_instances_that_agree_need_no_lfs(client: Client) -> None:
    def never() -> str | None:
        raise AssertionError("asked for the instance")

    client.sees(1, "10.77.0.11@tcp", instance="00aa")
    client.sees(1, "10.78.0.11@tcp1", instance="ff01")
    owners = OstOwners(site(), root=client.root, instance=never)
    assert _name(owners, 1) == ("oss1", Source.CLIENT)


def test_another_file_systems_osts_are_not_ours(client: Client) -> None:
    directory = client.root.path("sys/fs/lustre/osc/lab2-OST0000-osc-ff01")
    directory.mkdir(parents=True)
    (directory / "ost_conn_uuid").write_text("10.77.0.12@tcp\n")
    assert _name(client.owners(), 0) == ("oss1", Source.MAP)


def test_an_import_that_goes_away_is_not_known(client: Client) -> None:
    """sysfs says ENODEV then; a directory in the file's place fails as surely."""
    client.sees(1, "10.77.0.11@tcp")
    client.root.path("sys/fs/lustre/osc/lab-OST0000-osc-ff1a/ost_conn_uuid").mkdir(parents=True)
    owners = client.owners()
    assert _name(owners, 0) == ("oss1", Source.MAP)
    assert _name(owners, 1) == ("oss1", Source.CLIENT)
