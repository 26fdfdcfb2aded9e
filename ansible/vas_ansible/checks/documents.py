"""Whether the settings that a role writes into a file are what its program will take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ValidationError

from vas_affinity.daemon.settings import AffinitySettings
from vas_ansible.checks.finding import Finding
from vas_core.settings import problems
from vas_guest.settings import GuestSettings
from vas_routing.settings import Settings as RouteSettings

_MODELS: Mapping[str, tuple[type[BaseModel], str]] = {
    "vas_guest_settings": (GuestSettings, "docs/guests.md"),
    "vas_route_switcher_settings": (RouteSettings, "docs/routing.md"),
    "vas_affinity_settings": (AffinitySettings, "docs/affinity.md"),
}


def as_written(settings: object) -> object:
    """As the role `guest` writes them: of an image without a boot loader it adds the kernel."""
    if isinstance(settings, Mapping) and settings.keys() & {"initrd", "kernel_command_line"}:
        return {"kernel": "/var/lib/vas/image/vas-guest.vmlinuz", **settings}
    return settings


def examine_settings(node: str, variables: Mapping[str, object]) -> Iterator[Finding]:
    """What its program would not start with, and only say so after the first changes."""
    for name, (model, page) in _MODELS.items():
        try:
            model.model_validate(as_written(variables.get(name) or {}))
        except ValidationError as wrong:
            for what in problems(wrong):
                yield Finding(node, name, what, f"its keys are in {page}")
