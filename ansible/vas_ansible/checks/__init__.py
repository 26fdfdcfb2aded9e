"""Checks of the inventory and of each machine before any change. Pure."""

from vas_ansible.checks.accounts import usual_numbers
from vas_ansible.checks.facts import MachineFacts
from vas_ansible.checks.finding import CheckFinding
from vas_ansible.checks.inventory import LATER, UnreadableValue, examine_inventory
from vas_ansible.checks.machine import examine_machine
from vas_ansible.checks.network import fabric_mtus
from vas_ansible.checks.required import examine_required

__all__ = [
    "LATER",
    "CheckFinding",
    "MachineFacts",
    "UnreadableValue",
    "examine_inventory",
    "examine_machine",
    "examine_required",
    "fabric_mtus",
    "usual_numbers",
]
