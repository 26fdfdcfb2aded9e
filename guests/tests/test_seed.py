"""A guest's cloud-init seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from vas_cluster import load_cluster
from vas_core.seed import read_seed, write_seed
from vas_guest.domain import guest_uuid
from vas_guest.seed import SeedAdditions, hosts_file, seed_files
from vas_guest.settings import Accelerator, GuestSettings
from vas_routing.settings import RouteSettings

SITE = Path(__file__).parents[2] / "cluster/examples/four-oss.yaml"


def made(
    settings: GuestSettings | None = None, more: SeedAdditions | None = None
) -> dict[str, str]:
    cluster = load_cluster(SITE)
    guest = cluster.guest("vas01.hpc.example")
    return seed_files(cluster, SITE.read_text(), guest, settings or GuestSettings(), more)


def user_data(files: dict[str, str]) -> dict[str, Any]:
    assert files["user-data"].startswith("#cloud-config\n")
    found: dict[str, Any] = yaml.safe_load(files["user-data"])
    return found


def test_the_guest_gets_its_name_and_its_map() -> None:
    files = made()
    cluster = load_cluster(SITE)
    meta = json.loads(files["meta-data"])
    assert meta["local-hostname"] == "vas01.hpc.example"
    assert meta["instance-id"] == guest_uuid(cluster, cluster.guests()[0])
    written = {one["path"]: one["content"] for one in user_data(files)["write_files"]}
    assert written["/etc/vas/cluster.yaml"] == SITE.read_text()
    assert (
        "IgnoreCarrierLoss=yes"
        in written["/etc/systemd/network/10-cloud-init-ens1f0v0.network.d/vas.conf"]
    )


def test_an_emulated_guest_probes_at_its_own_pace() -> None:
    written = [one["path"] for one in user_data(made())["write_files"]]
    assert "/etc/vas/route.yaml" not in written
    emulated = user_data(made(GuestSettings(accelerator=Accelerator.TCG)))["write_files"]
    route = next(one for one in emulated if one["path"] == "/etc/vas/route.yaml")
    assert RouteSettings.model_validate(yaml.safe_load(route["content"])).probe_interval_ms == 2000
    # The daemon starts with the map: it must find them.
    assert emulated[0] == route


def test_the_vf_is_known_by_its_mac_and_virtio_is_left_to_the_daemon() -> None:
    network = yaml.safe_load(
        made(GuestSettings(prefix_bits=16, gateway="192.0.2.1"))["network-config"]
    )
    assert network["ethernets"] == {
        "ens1f0v0": {
            "match": {"macaddress": "52:54:00:0a:01:01"},
            "set-name": "ens1f0v0",
            "addresses": ["192.0.2.111/16"],
            "routes": [{"to": "default", "via": "192.0.2.1"}],
        }
    }


def test_the_vf_has_the_fabrics_mtu() -> None:
    for mtu in (9000, None):
        network = yaml.safe_load(made(GuestSettings(mtu=mtu))["network-config"])
        assert network["ethernets"]["ens1f0v0"].get("mtu") == mtu


def test_nobody_logs_in_unless_the_site_says_who() -> None:
    assert user_data(made())["users"] == [[]]
    (user,) = user_data(made(GuestSettings(authorized_keys=["ssh-ed25519 AAAA a"])))["users"]
    assert user["lock_passwd"] is True
    assert user["ssh_authorized_keys"] == ["ssh-ed25519 AAAA a"]


def test_it_has_no_empty_list_which_cloud_inits_schema_refuses() -> None:
    assert [] not in user_data(made()).values()
    assert "runcmd" not in user_data(made())


def test_every_node_is_known_by_its_name() -> None:
    lines = hosts_file(load_cluster(SITE)).splitlines()
    assert "192.0.2.111 vas01.hpc.example vas01" in lines
    assert "192.0.2.5 yarn-rm.hpc.example yarn-rm" in lines


def test_more_is_added_and_may_replace() -> None:
    more = SeedAdditions(files={"/etc/hosts": "mine", "/x": "y"}, commands=[["true"]])
    found = user_data(made(more=more))
    written = {one["path"]: one["content"] for one in found["write_files"]}
    assert written["/etc/hosts"] == "mine" and written["/x"] == "y"
    assert found["runcmd"] == [["true"]]


def test_a_cd_gives_back_what_was_written(tmp_path: Path) -> None:
    files = made()
    write_seed(tmp_path / "seed.iso", files)
    assert read_seed(tmp_path / "seed.iso") == files
    assert (tmp_path / "seed.iso").stat().st_mode & 0o777 == 0o600
    assert b"cidata" in (tmp_path / "seed.iso").read_bytes()[32768:34816]
