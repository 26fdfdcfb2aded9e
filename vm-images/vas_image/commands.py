"""`vas image`: the guest image, built, looked into, booted."""

from __future__ import annotations

import click

from vas_core.lazy import Later, LazyGroup


@click.group(
    cls=LazyGroup,
    later={
        "box": Later("vas_image.box.command:box", "Pack an image as a Vagrant box for libvirt."),
        "build": Later("vas_image.build_command:build_command", "Build the guest image."),
        "check": Later(
            "vas_image.check.command:check", "Boot an image without a network; a verdict."
        ),
        "inspect": Later(
            "vas_image.look.command:inspect", "Look into an image without booting it."
        ),
    },
)
def image() -> None:
    """The guests' image: JDK, Hadoop, the plugins and VAS on Debian or Rocky 9."""
