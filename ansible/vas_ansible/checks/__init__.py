"""What is wrong before anything is changed: with the inventory, and with each machine. Pure."""

from vas_ansible.checks.facts import Facts
from vas_ansible.checks.finding import Finding
from vas_ansible.checks.inventory import LATER, examine_inventory
from vas_ansible.checks.machine import examine_machine
from vas_ansible.checks.network import fabric_mtus

__all__ = ["LATER", "Facts", "Finding", "examine_inventory", "examine_machine", "fabric_mtus"]
