"""What the role `route_switcher` tells other programs of the virtio leg."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

VARS = Path(__file__).parents[1] / "roles/route_switcher/vars/main.yml"
MAC = "52:54:00:77:01:02"

pytestmark = pytest.mark.machine  # importing Ansible looks for a controller of jobs


def told(about: dict[str, object]) -> dict[str, str]:
    """File -> its text."""
    loader = DataLoader()
    variables = loader.load_from_file(str(VARS), trusted_as_template=True)
    found = Templar(loader, variables={**variables, **about}).template(
        variables["__vas_route_switcher_managers"]
    )
    return {each["file"]: each["text"] for each in found}


def test_a_guest_s_leg_is_known_by_its_mac_as_its_name_is_the_kernel_s() -> None:
    files = told({"vas_guest": {"macs": {"virtio": MAC}}})
    manager = files["/etc/NetworkManager/conf.d/90-vas-virtio0.conf"]
    assert f"[keyfile]\nunmanaged-devices+=mac:{MAC}\n" in manager
    networkd = files["/etc/systemd/network/05-vas-virtio0.network"]
    assert f"[Match]\nMACAddress={MAC}\n\n[Link]\nUnmanaged=yes\n" in networkd


def test_a_server_s_is_the_map_s_bridge() -> None:
    files = told({"vas_host": {"nics": {"bridge": "vasbr0"}}})
    assert sorted(files) == [
        "/etc/NetworkManager/conf.d/90-vas-vasbr0.conf",
        "/etc/systemd/network/05-vas-vasbr0.network",
        "/etc/systemd/networkd.conf.d/90-vas.conf",
    ]
    manager = files["/etc/NetworkManager/conf.d/90-vas-vasbr0.conf"]
    assert "unmanaged-devices+=interface-name:vasbr0\n" in manager
    assert "[Match]\nName=vasbr0\n" in files["/etc/systemd/network/05-vas-vasbr0.network"]


ROLE = VARS.parents[1]


@pytest.mark.parametrize(
    ("settings", "kept"),
    [({}, False), ({"rule_priority": 0}, False), ({"rule_priority": 1000}, True)],
)
def test_N2_ksocklnd_is_touched_where_the_priority_needs_it_alone(
    settings: dict[str, int], kept: bool
) -> None:
    """Several rails of a storage server may rely on what the parameter switches off."""
    loader = DataLoader()
    variables = loader.load_from_file(str(ROLE / "defaults/main.yml"), trusted_as_template=True)
    variables |= {"vas_route_switcher_settings": settings}
    found = Templar(loader, variables=variables).template(variables["vas_route_switcher_ksocklnd"])
    assert found is kept


def test_N2_what_is_not_needed_any_more_is_taken_away() -> None:
    tasks = yaml.safe_load((ROLE / "tasks/present.yml").read_text())
    of_it = [t for t in tasks if "__vas_route_switcher_modprobe" in str(t)]
    said = {str(t["when"]): t.get("ansible.builtin.file", {}).get("state") for t in of_it}
    assert said == {
        "vas_route_switcher_ksocklnd | bool": None,
        "not vas_route_switcher_ksocklnd | bool": "absent",
    }
