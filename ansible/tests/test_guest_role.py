"""What the role `guest` makes of what it reads: of an image, and of a server that was evacuated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

ROLE = Path(__file__).parents[1] / "roles/guest"


# Importing Ansible looks for a controller of jobs.
pytestmark = [pytest.mark.machine, pytest.mark.usefixtures("ansible_plugins")]


def value(name: str, about: dict[str, object], settings: dict[str, object]) -> Any:
    loader = DataLoader()
    variables = loader.load_from_file(str(ROLE / "vars/main.yml"), trusted_as_template=True)
    known = {**variables, "__vas_guest_about": about, "vas_guest_settings": settings}
    return Templar(loader, variables=known).template(known[name])


@pytest.mark.unhurried
def test_an_image_without_a_boot_loader_is_booted_by_its_kernel() -> None:
    about = {"boots_by_itself": False, "root": "LABEL=x", "kernel_command_line": "quiet"}
    assert value("__vas_guest_files", about, {})[-2:] == ["vas-guest.vmlinuz", "vas-guest.initrd"]
    assert value("__vas_guest_all_settings", about, {"vlan": 7, "initrd": "/own"}) == {
        "kernel": "/var/lib/vas/image/vas-guest.vmlinuz",
        "initrd": "/own",
        "kernel_command_line": "root=LABEL=x rw quiet",
        "vlan": 7,
    }


@pytest.mark.unhurried
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


def tasks() -> dict[str, Any]:
    """The tasks of present.yml by their names."""
    loader = DataLoader()
    read = loader.load_from_file(str(ROLE / "tasks/present.yml"), trusted_as_template=True)
    return {task["name"]: task for task in read}


def test_guests_wait_for_a_restart_by_their_definition_and_not_by_their_seed() -> None:
    found = [
        {"item": "vm1", "changed": True, "running": True, "restart": False},  # its seed
        {"item": "vm2", "changed": True, "running": True, "restart": True},
        {"item": "vm3", "changed": True},  # in check mode, before the program is there
    ]
    known = {"__vas_guest_applied": {"results": found}, "vas_guest_restart": "false"}
    templar = Templar(DataLoader(), variables=known)
    told = tasks()["Record the guests that require a restart"]["ansible.builtin.set_fact"]
    assert templar.template(told["vas_guest_restart_required"]) == ["vm2"]
    name = "Restart guests with a changed definition, where the inventory allows"
    restarted = tasks()[name]["loop"]
    assert [one["item"] for one in templar.template(restarted)] == ["vm2"]


@pytest.mark.parametrize(
    ("settings", "sets"),
    [({}, False), ({"trust": True}, True), ({"trust": True, "virtual_function": False}, False)],
)
def test_trust_is_set_after_the_settings_are_there(settings: dict[str, object], sets: bool) -> None:
    assert value("__vas_guest_sets_trust", {}, settings) is sets
    names = list(tasks())
    written = names.index("Write the settings of vas guest")
    trusted = names.index("Set the trust of virtual functions")
    assert written < trusted < names.index("Define and start each guest")


@pytest.mark.parametrize(
    ("said", "free"),
    [
        ('{"steps": [], "trust": {"free": [1], "used": [2]}}', [1]),
        ('{"steps": [{"file": "sriov_numvfs"}], "trust": {"free": [1], "used": []}}', []),
        ("", []),
    ],
)
def test_virtual_functions_that_wait_for_a_boot_are_not_made_for_their_trust(
    said: str, free: list[int]
) -> None:
    loader = DataLoader()
    variables = loader.load_from_file(str(ROLE / "vars/main.yml"), trusted_as_template=True)
    known = {**variables, "__vas_guest_trust_asked": {"stdout": said}}
    found = Templar(loader, variables=known).template(known["__vas_guest_distrusted"])
    assert found["free"] == free


def stats(*checksums: str) -> list[dict[str, Any]]:
    """As the module `stat` says them; of a file that is not there it knows no more."""
    return [
        {"stat": {"exists": True, "checksum": c} if c else {"exists": False}} for c in checksums
    ]


@pytest.mark.parametrize(
    ("now", "then", "other"),
    [
        (("k1", "i1", "about"), ("k1", "i1"), False),
        (("k1", "i1", "about"), ("k2", "i1"), True),
        (("k1", "i1", "about"), ("k1", "i2"), True),
        (("k1", "i1", "about"), (), True),  # the new one has a boot loader, their disks have none
        (("", "", "about"), ("k1", "i1"), True),
        (("", "", "about"), (), False),
        (("", "", ""), ("k1", "i1"), False),  # the first image of the server
    ],
)
def test_another_image_s_kernel_is_seen(
    now: tuple[str, ...], then: tuple[str, ...], other: bool
) -> None:
    loader = DataLoader()
    variables = loader.load_from_file(str(ROLE / "vars/main.yml"), trusted_as_template=True)
    found = {"__vas_guest_now": {"results": stats(*now)}}
    found |= {"__vas_guest_then": {"results": stats(*then)}}
    found |= {"vas_host": {"guests": [{"name": "vm1"}, {"name": "vm2"}]}}
    found |= {"__vas_guest_defined": {"stdout_lines": ["vm2", "theirs", ""]}}
    templar = Templar(loader, variables={**variables, **found})
    assert templar.template(variables["__vas_guest_other_kernel"]) is other
    assert templar.template(variables["__vas_guest_kept"]) == ["vm2"]


def test_the_kernel_is_judged_before_the_image_is_copied() -> None:
    read = DataLoader().load_from_file(str(ROLE / "tasks/image.yml"), trusted_as_template=True)
    judged = [task.get("ansible.builtin.include_tasks") for task in read].index("kernel.yml")
    assert judged < ["ansible.builtin.copy" in task for task in read].index(True)


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
