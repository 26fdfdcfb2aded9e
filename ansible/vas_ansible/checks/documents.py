"""Checks that programs accept the settings that roles write into their files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pydantic import BaseModel, ValidationError

from vas_affinity.daemon.settings import AffinitySettings
from vas_ansible.checks.finding import CheckFinding
from vas_core.problems import structure_problems
from vas_guest.settings import GuestSettings
from vas_routing.settings import RouteSettings

_MODELS: Mapping[str, tuple[type[BaseModel], str]] = {
    "vas_guest_settings": (GuestSettings, "docs/guests.md"),
    "vas_route_switcher_settings": (RouteSettings, "docs/routing.md"),
    "vas_affinity_settings": (AffinitySettings, "docs/affinity.md"),
}


def as_written(settings: object) -> object:
    """Returns a guest's settings as the role `guest` writes them to /etc/vas/guest.yaml.

    The role adds the kernel of the image where the settings have an initrd or a command line for
    one.
    """
    if isinstance(settings, Mapping) and settings.keys() & {"initrd", "kernel_command_line"}:
        return {"kernel": "/var/lib/vas/image/vas-guest.vmlinuz", **settings}
    return settings


def examine_settings(node: str, variables: Mapping[str, object]) -> Iterator[CheckFinding]:
    """Finds settings that a program would refuse later, when the roles have changed something."""
    for name, (model, page) in _MODELS.items():
        try:
            model.model_validate(as_written(variables.get(name) or {}))
        except ValidationError as wrong:
            for problem in structure_problems(wrong, model):
                what = replace(problem, fix="").text()
                fix = f"{problem.fix} (its keys are in {page})"
                yield CheckFinding(node, name, what, fix.strip())
