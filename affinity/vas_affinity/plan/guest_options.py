"""Options of `plan` and `explain` that say which guests to place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from vas_affinity.guest_plan import GuestPlanSettings, GuestRequest, requests_of, settings_of
from vas_affinity.machine.snapshot import Snapshot
from vas_cluster import Cluster, Host, load_cluster
from vas_core.cli import RealRange, SizeType
from vas_core.errors import BadInput
from vas_core.options import shared

_FILE = click.Path(path_type=Path)


@dataclass(frozen=True, kw_only=True)
class GuestOptions:
    """The values of the options that `guest_options` adds."""

    cluster: Path | None
    host: str | None
    vcpus: int | None
    memory: int | None
    iothreads: int
    oss_share: float | None
    junk_siblings: bool
    huge_pages: bool

    def __post_init__(self) -> None:
        if self.cluster and self.vcpus is not None:
            what = "--cluster says which guests there are: leave --vcpus out"
            raise BadInput(what, where="--vcpus")

    @property
    def any(self) -> bool:
        """Tells whether guests were asked for."""
        return self.cluster is not None or self.vcpus is not None

    def settings(self) -> GuestPlanSettings:
        """Returns the planner's settings, without what a map says."""
        share = {} if self.oss_share is None else {"oss_share": self.oss_share}
        return GuestPlanSettings(
            junk_siblings=self.junk_siblings, huge_pages=self.huge_pages, **share
        )

    def guests_on(
        self, snapshot: Snapshot
    ) -> tuple[Snapshot, tuple[GuestRequest, ...], GuestPlanSettings]:
        """Returns the snapshot, with the map's name of its host, the guests, and the settings.

        Raises BadInput if the map has no such host, or no guests on it.
        """
        if self.cluster is None:
            asked = GuestRequest(
                vcpus=self.vcpus, memory_bytes=self.memory, iothreads=self.iothreads
            )
            return snapshot, (asked,), self.settings()
        described = _of_map(snapshot, load_cluster(self.cluster), self.host, self.cluster)
        named = snapshot.model_copy(update={"host": described.name})
        return named, requests_of(described), settings_of(described, self.settings())


guest_options = shared(
    "guests",
    GuestOptions,
    click.option("--cluster", type=_FILE, help="Map; place the guests of its host."),
    click.option("--host", metavar="NAME", help="Host of the map, if its name is not this one's."),
    click.option("--vcpus", type=click.IntRange(1, 1024), help="Place one guest of so many vCPUs."),
    click.option(
        "--memory",
        type=SizeType(least=1 << 20),
        help="Guest memory, like 6GiB. [default: 1GiB a vCPU]",
    ),
    click.option(
        "--iothreads",
        type=click.IntRange(0, 16),
        default=GuestRequest.model_fields["iothreads"].default,
        help="Guest I/O threads [default: 1].",
    ),
    click.option(
        "--oss-share",
        type=RealRange(0, 0.9),
        help="Share of cores that the OSS keeps [default: 0.25].",
    ),
    click.option(
        "--junk-siblings", is_flag=True, help="Leave siblings of vCPUs' cores without work."
    ),
    click.option(
        "--huge-pages/--no-huge-pages", default=True, help="Put the guests' memory in huge pages."
    ),
)


def _of_map(snapshot: Snapshot, cluster: Cluster, name: str | None, path: Path) -> Host:
    """Returns the host of the map that a snapshot is of. Raises BadInput if it has no guests."""
    host = cluster.host(cluster.name_of(name or snapshot.host)) or _only(cluster, name)
    if host is None:
        names = ", ".join(host.name for host in cluster.hosts)
        what = f"has no host {name or snapshot.host}"
        raise BadInput(what, where=str(path), hint=f"give --host, one of {names}")
    if not host.guests:
        raise BadInput(f"has no guests on {host.name}", where=str(path))
    return host


def _only(cluster: Cluster, name: str | None) -> Host | None:
    return cluster.hosts[0] if name is None and len(cluster.hosts) == 1 else None
