"""Experiments in a lab on this machine: the real jobs, one lab at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import yaml
from pydantic import JsonValue

from vas_bench.engine.rounds import RunIdentity
from vas_bench.results.environment import build_of, environment, lab_versions
from vas_bench.results.record import CurvePoints
from vas_bench.run.counters import (
    Counters,
    drop_page_cache,
    may_drop_page_cache,
    network_counters,
    page_cache,
    read_device,
)
from vas_bench.run.experiments import Experiment
from vas_bench.run.jobs import Jobs, PlannedSite, meant, versions_for
from vas_bench.run.lab_links import PERIOD_SECONDS, LinkCurves, link_counters, peak_of
from vas_bench.run.lab_watch import LabWatch
from vas_bench.run.measures import job_measures
from vas_bench.run.own_jobs import workloads_jar
from vas_bench.run.plan import BenchPlan
from vas_bench.run.session import Details
from vas_bench.run.systems import PROFILES, arm_of, configuration
from vas_bench.run.tez import WithTez, arm_on, job_properties
from vas_bench.run.workloads import WORKLOADS
from vas_cluster import parse_cluster
from vas_cluster.model import Flock
from vas_core.errors import BadInput
from vas_core.files import write_atomically
from vas_core.polling import poll
from vas_core.shown import counted
from vas_core.sizes import format_size
from vas_lab.control import ControlRequest
from vas_lab.disk import LAB_BYTES, free_bytes
from vas_lab.hadoop.configuration import child_arguments
from vas_lab.hadoop.hdfs import hdfs_root, name_node_web
from vas_lab.hadoop.shuffled import find_shuffled, shuffled_properties
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.sites import compute_site, lab_site_yaml
from vas_lab.spec import LabLinks, find_java
from vas_lab.state import is_running
from vas_yarn.jars import find_hadoop, find_plugins
from vas_yarn.jobs.systems import Arm
from vas_yarn.jobs.trees import remove_tree

DIRECTORY = "/bench-run"
# Where Tez's application masters write their history.
_HISTORY = "/tez-history"
# The counters whose growth during a run is kept.
_DRAWN = ("link_bytes/own host", "link_bytes/other hosts", "link_requests", "device_requests")
# A lab whose starter was killed ends a moment later.
_OLD_LAB_SECONDS = 60.0


@dataclass(frozen=True)
class Up:
    """A running lab: what it was made for, its arm on Tez if any, and its jobs."""

    lab: Lab
    site: object
    links: LabLinks
    tez: Arm | None
    jobs: Jobs


class LabSite(PlannedSite):
    """A `PlannedSite` that is a lab in a directory, made as the plan asks."""

    def __init__(self, plan: BenchPlan, directory: Path, say: Callable[[str], None]) -> None:
        super().__init__(plan, say)
        self._directory = directory
        self._up: Up | None = None
        self._drops = plan.drop_caches and may_drop_page_cache(self._root)
        self._versions: dict[str, str] = {}
        self._curves: dict[str, CurvePoints] = {}

    @property
    def learned(self) -> Path:
        """The file that keeps how long runs take in labs."""
        return self._directory / "run-seconds.json"

    def check(self, experiments: Sequence[Experiment]) -> None:
        """Raises BadInput for experiments that no lab on this machine can run; may fetch Tez.

        Among these are more hosts than the memory or the disk has room for. Raises NotHere where
        something is not built.
        """
        if any(each.flock is not Flock.FLOCK for each in experiments):
            raise BadInput(
                "a lab's stand-in for Lustre plays no lock modes",
                where="parameters.flock",
                hint="leave it out: it is for a real site (--cluster)",
            )
        _check_room(experiments, free_bytes(self._directory))
        if self._plan.with_shuffled:
            find_shuffled()
        self._fetch_tez(experiments)

    def identify(self, experiment: Experiment) -> RunIdentity[Experiment]:
        """Returns an experiment with configuration and versions. Raises NotHere before a build."""
        if not self._versions:
            build = build_of(find_plugins(), workloads_jar())
            self._versions = lab_versions(find_hadoop(), find_java()) | {"plugins": build}
            if self._plan.with_shuffled:
                self._versions["vas-shuffled"] = build_of(find_shuffled())
        cache = "dropped before the run" if self._drops else "as the run before left it"
        told = configuration(experiment, self._plan.properties, cache, hdfs=self._hdfs)
        if self._plan.drop_caches and experiment.links == "honest":
            told["client_caches"] = "dropped before the run"
        return RunIdentity(experiment, told, versions_for(experiment, self._versions))

    def environment(self) -> Mapping[str, JsonValue]:
        """Returns facts about the machine as it is now."""
        return environment(self._root)

    def up(self, experiment: Experiment) -> None:
        """Starts a lab with the hosts and JVM profile of an experiment, unless that one is up.

        Raises VasError when it does not start.
        """
        if self._up and self._up.site == experiment.site:
            return
        self.down()
        poll(
            lambda: is_running(self._directory),
            lambda running: not running,
            _OLD_LAB_SECONDS,
            f"the lab in {self._directory} to end",
        )
        self._say(f"starting a lab of {counted(experiment.hosts, 'host')}")
        daemon = shuffled_properties() if self._plan.with_shuffled else {}
        options = LabOptions(
            state_dir=self._directory,
            hosts=experiment.hosts,
            cluster_file=self._compute_map(experiment),
            properties={**PROFILES[experiment.jvm].lab, **daemon, **_local(experiment)},
            hdfs=self._plan.with_hdfs,
            links=LabLinks(experiment.links),
            job_limit_seconds=self._plan.limit_seconds,
        )
        lab = Lab.start(options)
        jobs = Jobs(
            WithTez(lab, _HISTORY),
            DIRECTORY,
            self._say,
            name_node_web=name_node_web(lab.spec.cluster),
            hdfs=hdfs_root(lab.spec.cluster),
        )
        tez = _tez_arm(lab, self._tez_jars) if self._tez_jars else None
        self._up = Up(lab, experiment.site, options.links, tez, jobs)
        remove_tree(lab, DIRECTORY)

    def _compute_map(self, experiment: Experiment) -> Path | None:
        """Writes the map of a lab with compute nodes; None where guests are beside the OSTs."""
        if not experiment.is_on_compute_nodes:
            return None
        file = self._directory / "compute.yaml"
        write_atomically(file, yaml.safe_dump(compute_site(experiment.hosts), sort_keys=False))
        return file

    def drop_caches(self) -> None:
        """Writes dirty pages, and empties the page cache where the kernel lets us; those of honest
        links always."""
        if self._plan.drop_caches and self._is_linked:
            self._there.lab.link_totals(drop_caches=True)
        if self._drops:
            drop_page_cache(self._root, hint="set drop_caches: false")
        else:
            os.sync()

    def run(self, experiment: Experiment) -> Mapping[str, float]:
        """Runs the job and returns what it, the block device and the interfaces counted."""
        before = self._counted()
        with self._watched() as seen, self._drawn():
            job = self.jobs.run(experiment, self.arm(experiment))
        cache = page_cache(self._root)
        # What the job has written is the device's to write now, and counted as the job's.
        os.sync()
        machine = self._counted().since(before) | cache
        return meant(experiment, job_measures(job) | machine | seen | peak_of(self._curves))

    def details(self, experiment: Experiment) -> Details:
        """Returns phases and locality of the last run, and what crossed honest links when."""
        return replace(super().details(experiment), curves=self._curves)

    def down(self) -> None:
        """Ends the lab, if one is up."""
        if self._up:
            up, self._up = self._up, None
            up.lab.stop()

    @property
    def jobs(self) -> Jobs:
        """The jobs of the lab that is up."""
        return self._there.jobs

    def arm(self, experiment: Experiment) -> Arm:
        """Returns the arm that an experiment runs as."""
        return arm_of(experiment, self._plan.properties, self._there.tez, self._hdfs)

    @contextmanager
    def _watched(self) -> Iterator[dict[str, float]]:
        """Yields measures that are there after the body; none where nodes have no daemon."""
        seen: dict[str, float] = {}
        if not self._plan.with_shuffled:
            yield seen
            return
        watch = LabWatch(self._root, self._there.lab.running.supervisor)
        try:
            yield seen
        finally:
            seen.update(watch.stop())

    @contextmanager
    def _drawn(self) -> Iterator[None]:
        """Keeps how bytes and requests grow during its body, where links are honest."""
        self._curves = {}
        if not self._is_linked:
            yield
            return
        lab = self._there.lab
        words = ("-P", "-m", "vas_lab.links.totals", "--every", str(PERIOD_SECONDS))
        argv = lab.enter([sys.executable, *words])
        device = partial(read_device, self._root, self._directory)
        grown = LinkCurves(argv, lab.spec.cluster, device, _DRAWN)
        try:
            yield
        finally:
            self._curves = grown.stop()

    @property
    def _is_linked(self) -> bool:
        return self._there.links is LabLinks.HONEST

    @property
    def _there(self) -> Up:
        assert self._up is not None, "up() comes first"
        return self._up

    @property
    def _hdfs(self) -> str:
        """The root of the lab's HDFS, the same for any number of hosts; empty without one."""
        return hdfs_root(parse_cluster(lab_site_yaml(1), "lab")) if self._plan.with_hdfs else ""

    def _counted(self) -> Counters:
        lab = self._there.lab
        paths = lab.ask(ControlRequest(ask="status")).paths
        device = read_device(self._root, self._directory)
        asked = {"metadata_requests": lab.metadata_requests()}
        linked = link_counters(lab.link_totals(), lab.spec.cluster) if self._is_linked else {}
        return Counters(
            device
            | network_counters((path.device, path.rx_bytes, path.tx_bytes) for path in paths)
            | asked
            | linked
        )


def _local(experiment: Experiment) -> dict[str, str]:
    """Properties that put the nodes' local directories where the experiment has them."""
    if not experiment.is_all_on_lustre:
        return {}
    mount = parse_cluster(lab_site_yaml(1), "lab").lustre.mount
    return {"yarn.nodemanager.local-dirs": f"{mount}/yarn/local/${{env.VAS_NODE}}"}


def _check_room(experiments: Sequence[Experiment], free: int) -> None:
    """Raises BadInput unless a lab, all its inputs and the largest run fit on the disk."""
    lustre = {(each.site, each.data, False): each.size_bytes for each in experiments}
    hdfs = {(each.site, each.data, True): each.size_bytes for each in experiments if each.in_hdfs}
    by_site: dict[object, int] = {}
    for (site, *_), size_bytes in (lustre | hdfs).items():
        by_site[site] = by_site.get(site, 0) + size_bytes
    largest = max(WORKLOADS[each.workload].copies * each.size_bytes for each in experiments)
    needed = LAB_BYTES + max(by_site.values()) + largest
    if needed > free:
        raise BadInput(
            f"{format_size(needed)} are needed, and {format_size(free)} are free",
            where="parameters.size",
            hint="give less, or free some space",
        )


def _tez_arm(lab: Lab, jars: tuple[Path, ...]) -> Arm:
    """Returns the lab's arm on Tez: the same JVM flags, heaps, sort buffer and container sizes."""
    arguments = lab.spec.conf / "tez-child.args"
    write_atomically(arguments, child_arguments(lab.spec, jars))
    every_jvm = f"@{arguments}"
    properties = job_properties(_HISTORY) | {
        # The jars are on every node's disk already, as Hadoop's are: none is localised.
        "tez.ignore.lib.uris": "true",
        "tez.cluster.additional.classpath.prefix": ":".join(map(str, jars)),
        "yarn.app.mapreduce.am.admin-command-opts": every_jvm,
        "mapreduce.admin.map.child.java.opts": every_jvm,
        "mapreduce.admin.reduce.child.java.opts": every_jvm,
    }
    return arm_on(properties, jars)
