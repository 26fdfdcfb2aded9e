"""What the role `evacuation` makes of guests that are about to end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

ROLE = Path(__file__).parents[1] / "roles/evacuation"

pytestmark = pytest.mark.machine  # importing Ansible looks for a controller of jobs


def read(file: str) -> Any:
    return DataLoader().load_from_file(str(ROLE / file), trusted_as_template=True)


def test_a_guest_is_down_when_its_process_has_gone() -> None:
    """By its state virsh leaves out one that is "in shutdown", whose memory is not free yet."""
    assert read("vars/main.yml")["__vas_evacuation_list_running"] == ["virsh", "list", "--name"]


@pytest.mark.parametrize(
    ("status", "said", "failed"),
    [
        (0, "", False),
        (1, "error: Requested operation is not valid: domain is not running", False),
        (1, "error: Failed to terminate process 77 with SIGKILL: Device or resource busy", True),
    ],
)
def test_one_that_ends_before_its_power_is_cut_is_down(
    status: int, said: str, failed: bool
) -> None:
    (block,) = [task for task in read("tasks/present.yml") if "rescue" in task]
    (cut,) = block["rescue"]
    known = {cut["register"]: {"rc": status, "stderr": said}}
    templar = Templar(DataLoader(), variables=known)
    assert templar.evaluate_conditional(cut["failed_when"]) is failed
    assert cut["environment"] == {"LC_ALL": "C"}
