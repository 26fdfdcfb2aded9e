"""What the role `guest` reads of an image: which files it has, and how it is booted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

ROLE = Path(__file__).parents[1] / "roles/guest"
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
