"""The command group `vas image`: builds, inspects, checks and packs the guest image."""

from __future__ import annotations

import click

from vas_core.lazy import Later, LazyGroup


@click.group(
    cls=LazyGroup,
    later={
        "box": Later("vas_image.box.box:box", "Pack an image as a Vagrant box for libvirt."),
        "build": Later("vas_image.build.build:build_command", "Build the guest image."),
        "check": Later(
            "vas_image.check.check:check", "Boot an image without a network, and judge it."
        ),
        "inspect": Later("vas_image.look.inspect:inspect", "Inspect an image without booting it."),
    },
)
def image() -> None:
    """Make the guests' image: JDK, Hadoop, the plugins and VAS on Debian or Rocky 9."""
