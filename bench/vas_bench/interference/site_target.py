"""A site as a target: checks it, makes a directory of data on it, and removes that again."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import JsonValue

from vas_bench.engine.play import Progress
from vas_bench.interference.scope import SITE, ArmName, Scope
from vas_bench.interference.target import (
    PREPARE,
    InterferenceRequest,
    InterferenceTarget,
    TargetStage,
)
from vas_bench.results.record import canonical_hash
from vas_bench.results.systems import ARM_OF
from vas_bench.site.claim import is_left_over, make
from vas_bench.site.configuration import SiteConfiguration
from vas_bench.site.nodes import Nodes
from vas_bench.site.options import Drops, SiteOptions, check_mount, check_options
from vas_bench.site.place import SitePlace, versions
from vas_cluster import Cluster, load_cluster
from vas_core.errors import BadInput
from vas_core.process import run
from vas_core.repository import state_directory
from vas_core.root import Root
from vas_core.sizes import format_size
from vas_yarn.jobs.terasort import TeraSort, TeraSortSizes
from vas_yarn.jobs.trees import inside, remove_tree
from vas_yarn.site_files import configuration_directory

_NAME = "vas-interference"
_FILES_BYTES = 1 << 30
# A job that takes longer is as good as hung.
_LIMIT_SECONDS = 3600.0


@dataclass(frozen=True, kw_only=True)
class SiteStage(TargetStage):
    """A stage on a site, past this machine's page cache, so that the servers answer."""

    nodes: Nodes
    drops: Drops
    direct = True

    def begin(self, arm: ArmName) -> None:
        """Empties the page caches that the user allows; an arm changes nothing else of a site."""
        if self.drops != "none":
            self.nodes.drop_caches(servers=self.drops == "all")

    def fio(self, arm: ArmName, argv: Sequence[str], timeout_seconds: float) -> str:
        """Runs fio on this machine, and returns what it printed.

        Raises CommandFailed when it fails, or takes longer than `timeout_seconds`.
        """
        return run(argv, timeout_seconds=timeout_seconds).stdout


@dataclass(frozen=True, kw_only=True)
class SiteTarget(InterferenceTarget):
    """A site as the target. Get one by `of`."""

    options: SiteOptions
    cluster: Cluster
    configuration: SiteConfiguration

    @classmethod
    def of(cls, request: InterferenceRequest, options: SiteOptions, root: Root) -> SiteTarget:
        """Returns the target. Raises BadInput for a map or configuration that cannot be used."""
        check_options(options)
        cluster = load_cluster(options.cluster_file)
        if not cluster.guests():
            hint = "YARN runs in the guests"
            raise BadInput("no host has a guest", where=str(options.cluster_file), hint=hint)
        directory = options.hadoop_conf or configuration_directory()
        read = SiteConfiguration.read(directory)
        return cls(request=request, options=options, cluster=cluster, configuration=read, root=root)

    @property
    def scope(self) -> Scope:
        """The site's arms: none of them runs analytics on a storage server."""
        return SITE

    @property
    def files_bytes(self) -> int:
        """The size of all the clients' files together."""
        return self.request.files or _FILES_BYTES

    @property
    def state(self) -> Path:
        """The directory of this machine for what is learned of the site."""
        return state_directory(f"interference-{self.cluster.site}")

    def settings(self) -> dict[str, JsonValue]:
        """Returns the site, its configuration, and versions."""
        told: dict[str, JsonValue] = {**versions()}
        return {
            "site": self.cluster.site,
            "site_configuration": canonical_hash(dict(self.configuration.properties)),
            "files_bytes": self.files_bytes,
            "drops": self.options.drops,
            "versions": told,
        }

    def words(self) -> str:
        """Returns the site and its client in one line for people."""
        files = format_size(self.files_bytes)
        of = {"none": "nobody's", "guests": "the guests'", "all": "the guests' and the servers'"}
        caches = f"{of[self.options.drops]} page caches are emptied before a round"
        return (
            f"site {self.cluster.site}; its client is this machine, with files of {files}; {caches}"
        )

    def facts(self) -> Mapping[str, object]:
        """Returns the site and its client for JSON."""
        told = {"name": self.cluster.site, "files_bytes": self.files_bytes}
        return {"site": told | {"page_caches_emptied": self.options.drops}}

    def check(self) -> None:
        """Raises BadInput unless this machine is a client of the site; VasError without YARN."""
        super().check()
        check_mount(self.root, self.cluster)
        refuse_node(self.cluster, socket.gethostname())
        self._place(None).refuse_broken()

    @contextmanager
    def opened(self, progress: Progress) -> Iterator[TargetStage]:
        """Makes a directory of ours on the site with the data; removes it after the body."""
        lifeline, lifeline_end = os.pipe()
        place = self._place(lifeline)
        try:
            self._claim(place)
            try:
                yield self._prepared(place, progress, lifeline_end)
            finally:
                remove_tree(place, self._directory)
        finally:
            os.close(lifeline)
            with suppress(OSError):
                os.close(lifeline_end)

    def _claim(self, place: SitePlace) -> None:
        there = inside(place, self._directory)
        if is_left_over(there):
            remove_tree(place, self._directory)
        make(there)

    def _prepared(self, place: SitePlace, progress: Progress, lifeline_end: int) -> TargetStage:
        cut = TeraSortSizes.of(self.request.size, len(self.cluster.guests()))
        stage = SiteStage(
            place=place,
            directory=self._directory,
            files_bytes=self.files_bytes,
            job=TeraSort(place, cut, f"{self._directory}/terasort"),
            system=ARM_OF[self.request.system],
            nodes=Nodes(self.cluster, self.options.reach),
            drops=self.options.drops,
            give_up=lambda: os.close(lifeline_end),
        )
        with progress.step(PREPARE):
            stage.prepare()
        return stage

    def _place(self, lifeline: int | None) -> SitePlace:
        return SitePlace(
            self.cluster,
            self.options.cluster_file,
            self.configuration,
            self.state / "tmp",
            _LIMIT_SECONDS,
            lifeline,
        )

    @property
    def _directory(self) -> str:
        return str(PurePosixPath("/", self.options.directory, _NAME))


def refuse_node(cluster: Cluster, name: str) -> None:
    """Raises BadInput for a storage server or guest of the map.

    fio must read and write from outside, as a client does.
    """
    known = cluster.name_of(name)
    nodes = {host.name for host in cluster.hosts} | {guest.name for guest in cluster.guests()}
    if known in nodes:
        hint = "run this on a client of the site"
        raise BadInput("is a server or a guest, and not a client of theirs", where=name, hint=hint)
