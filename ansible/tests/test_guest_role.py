"""What the role `guest` makes of what it reads: of an image, and of a server that was evacuated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import init_plugin_loader
from ansible.template import Templar

ROLE = Path(__file__).parents[1] / "roles/guest"


@pytest.fixture(autouse=True, scope="module")
def plugins() -> None:
    """Lookups by their full names; Ansible's own programs do that at their start."""
    init_plugin_loader([])


pytestmark = pytest.mark.machine  # importing Ansible looks for a controller of jobs


def value(name: str, about: dict[str, object], settings: dict[str, object]) -> Any:
    loader = DataLoader()
    variables = loader.load_from_file(str(ROLE / "vars/main.yml"), trusted_as_template=True)
    known = {**variables, "__vas_guest_about": about, "vas_guest_settings": settings}
    return Templar(loader, variables=known).template(known[name])


def test_an_image_without_a_boot_loader_is_booted_by_its_kernel() -> None:
    about = {"boots_by_itself": False, "root": "LABEL=x", "kernel_command_line": "quiet"}
    assert value("__vas_guest_files", about, {})[-2:] == ["vas-guest.vmlinuz", "vas-guest.initrd"]
    assert value("__vas_guest_all_settings", about, {"vlan": 7, "initrd": "/own"}) == {
        "kernel": "/var/lib/vas/image/vas-guest.vmlinuz",
        "initrd": "/own",
        "kernel_command_line": "root=LABEL=x rw quiet",
        "vlan": 7,
    }


@pytest.mark.parametrize("about", [{}, {"boots_by_itself": True, "kernel_command_line": "quiet"}])
def test_a_whole_disk_boots_by_itself(about: dict[str, object]) -> None:
    assert value("__vas_guest_files", about, {})[1:] == ["image.json", "SHA256SUMS"]
    assert value("__vas_guest_all_settings", about, {}) == {}


def test_a_server_that_was_freed_meanwhile_starts_no_guest(tmp_path: Path) -> None:
    """evacuate.yml waits for no site.yml, which may come to the guests after it."""
    variables = DataLoader().load_from_file(str(ROLE / "vars/main.yml"), trusted_as_template=True)
    site = {"vas_cluster_file": str(tmp_path / "cluster.yaml"), "inventory_hostname": "oss1"}

    def state() -> Any:
        known = {**variables, **site}
        return Templar(DataLoader(), variables=known).template(known["__vas_guest_state"])

    assert state() == "started"
    (tmp_path / "cluster.yaml.evacuated").write_text("oss10\noss2\n")
    assert state() == "started"
    (tmp_path / "cluster.yaml.evacuated").write_text("oss2\noss1\n")
    assert state() == "defined"


@pytest.mark.parametrize(
    ("check", "replanned", "placed"),
    [(True, True, False), (True, False, True), (False, True, True), (True, None, True)],
)
def test_in_check_mode_no_guest_is_placed_by_a_plan_that_goes(
    check: bool, replanned: bool | None, placed: bool
) -> None:
    """The old one knows no guest that is new in the map, and refuses one of another size."""
    variables = DataLoader().load_from_file(str(ROLE / "vars/main.yml"), trusted_as_template=True)
    said = {"ansible_check_mode": check, "vas_guest_placement": True}
    said |= {"__vas_guest_plan_file": {"stat": {"exists": True}}}
    said |= {} if replanned is None else {"vas_affinity_plan_changed": replanned}
    found = Templar(DataLoader(), variables={**variables, **said}).template(
        variables["__vas_guest_placed"]
    )
    assert found is placed
    tasks = (ROLE / "tasks/present.yml").read_text()
    assert tasks.count("__vas_guest_placed | bool") == 2
