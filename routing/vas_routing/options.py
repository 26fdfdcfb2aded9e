"""Defines the options of `vas route` that name the site and the node, and reads their files."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from vas_cluster import Cluster, default_path, load_cluster, load_site
from vas_core.options import shared
from vas_routing import observe
from vas_routing.choices import DEFAULT_CHOICES, read_choices
from vas_routing.daemon.keys import DEFAULT_KEY
from vas_routing.daemon.saved_state import read_saved_state
from vas_routing.desired import DesiredState
from vas_routing.drained import read_drained
from vas_routing.kernel import RouteKernel
from vas_routing.links import NodeLinks, read_links
from vas_routing.node import RoutedNode
from vas_routing.policy import Choices, desired_state
from vas_routing.settings import DEFAULT_PATH, RouteSettings, read_settings

STATE = Path("/run/vas/route")
KEPT = Path("/var/lib/vas/route")
_file = click.Path(path_type=Path)


@dataclass(frozen=True)
class RouteFiles:
    """The files that describe a site; `cluster` None is the map's default place."""

    cluster: Path | None
    config: Path
    choices: Path

    def paths(self) -> tuple[Path, ...]:
        """Returns the paths of all files, for a daemon that watches them."""
        return (self.cluster or default_path(), self.config, self.choices)


@dataclass(frozen=True)
class RouteContext:
    """The site, the node and the settings that a command works with."""

    files: RouteFiles
    node: str
    state: Path
    links_file: Path | None
    cluster: Cluster
    settings: RouteSettings
    choices: Choices

    @classmethod
    def read(
        cls, files: RouteFiles, node: str | None, state: Path, links_file: Path | None
    ) -> RouteContext:
        """Reads map, settings and choices. `node` None is this machine.

        Raises BadInput (DocumentProblems is one) for a missing or wrong file.
        """
        site = load_cluster(files.cluster) if files.cluster else load_site("name it by --cluster")
        settings, choices = read_settings(files.config), read_choices(files.choices)
        me = site.name_of(node or socket.gethostname())
        return cls(files, me, state, links_file, site, settings, choices)

    @property
    def switch(self) -> RoutedNode:
        """The node's route switcher, in the kernel of this network namespace."""
        return RoutedNode(self.cluster, self.node, RouteKernel(self.settings), self.state)

    def links(self) -> NodeLinks:
        """Returns the states of the paths: from the links file, or by their carriers.

        Raises BadInput for a wrong file or an unknown node, VasError if the data fabric's network
        is not known.
        """
        if self.links_file:
            return read_links(self.links_file)
        known = read_saved_state(self.state).devices
        found = observe.legs(self.cluster, self.node, observe.devices(), known)
        return observe.links(found, read_drained(self.state))

    def desired_state(self, links: NodeLinks) -> DesiredState | None:
        """Returns the desired state of the node; None if no path is up. Raises BadInput if the map
        lacks the node."""
        return desired_state(self.cluster, self.node, links, self.choices, self.settings)


@dataclass(frozen=True)
class RouteOptions:
    """The options that the user gave, for a command that reads the files itself."""

    files: RouteFiles
    node: str | None
    state: Path
    links_file: Path | None

    def read(self) -> RouteContext:
        """Reads the files again and returns a new context.

        Raises BadInput (DocumentProblems is one) for a missing or wrong file.
        """
        return RouteContext.read(self.files, self.node, self.state, self.links_file)


def _route_options(
    cluster_file: Path | None,
    node: str | None,
    config: Path,
    choices: Path,
    state: Path,
    links_file: Path | None = None,
) -> RouteOptions:
    return RouteOptions(RouteFiles(cluster_file, config, choices), node, state, links_file)


@wraps(_route_options)
def _route_context(**values: Any) -> RouteContext:
    return _route_options(**values).read()


_SITE_OPTIONS = (
    click.option(
        "--cluster", "cluster_file", type=_file, help="The cluster map.  [default: $VAS_CLUSTER]"
    ),
    click.option("--node", help="Name of the host or guest.  [default: this machine's name]"),
    click.option(
        "--config",
        type=_file,
        default=DEFAULT_PATH,
        show_default=True,
        help="Settings of the route switcher, a YAML file.",
    ),
    click.option(
        "--choices",
        type=_file,
        default=DEFAULT_CHOICES,
        show_default=True,
        help="Choices that `vas route calibrate` wrote, a JSON file.",
    ),
    click.option(
        "--state", type=_file, default=STATE, show_default=True, help="Directory of the journal."
    ),
)
file_options = shared("options", _route_options, *_SITE_OPTIONS)
"""Adds the options for site, node and state; the command gets RouteOptions, with no file read."""

site_options = shared("context", _route_context, *_SITE_OPTIONS)
"""Adds the same options; the command gets one RouteContext."""

kept_option = click.option(
    "--kept",
    type=_file,
    default=KEPT,
    show_default=True,
    help="Directory of the last good map, which outlives reboots.",
)
key_option = click.option(
    "--key",
    type=_file,
    default=DEFAULT_KEY,
    show_default=True,
    help="File of the key that signs probes.",
)
links_option = click.option(
    "--links",
    "links_file",
    type=_file,
    help="JSON file with the states of the paths, instead of the kernel's.",
)
