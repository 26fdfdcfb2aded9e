"""Runs experiments on a real site: its own daemons, the plan's job properties."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import JsonValue

from vas_bench.engine.rounds import RunIdentity
from vas_bench.results.environment import environment
from vas_bench.results.record import canonical_hash
from vas_bench.run.experiments import Experiment
from vas_bench.run.jobs import Jobs, PlannedSite, meant, versions_for
from vas_bench.run.measures import job_measures
from vas_bench.run.plan import BenchPlan
from vas_bench.run.systems import arm_of, site_configuration
from vas_bench.run.tez import WithTez, arm_on, job_properties
from vas_bench.site.claim import is_left_over, make
from vas_bench.site.configuration import SiteConfiguration
from vas_bench.site.nodes import Nodes
from vas_bench.site.options import SiteOptions, check_mount, check_options
from vas_bench.site.place import SitePlace, class_path, versions
from vas_cluster import Cluster, load_cluster
from vas_cluster.model import Flock
from vas_core.errors import BadInput
from vas_core.repository import state_directory
from vas_yarn.jobs.systems import COMPUTE, INTERMEDIATE, Arm
from vas_yarn.jobs.trees import inside, remove_tree
from vas_yarn.site_files import configuration_directory

_MICROSECONDS = 1_000_000
# Below the session's directory: a site need not have Tez. Its application masters write a history.
_TEZ_JARS, _TEZ_HISTORY = "tez/lib", "tez/history"
_LOGGER = "org.apache.tez.dag.history.logging.impl.SimpleHistoryLoggingService"
_MAPREDUCE = re.compile(r"hadoop-mapreduce-client-(common|core)-\d(?!.*-(tests|sources)).*\.jar")


class ClusterSite(PlannedSite):
    """A `PlannedSite` that is there already; its plan has the site's hosts and lock mode.

    Everything made on it is removed at the end.
    """

    def __init__(self, plan: BenchPlan, options: SiteOptions, say: Callable[[str], None]) -> None:
        self._options, self._cluster = options, load_cluster(options.cluster_file)
        directory = options.hadoop_conf or configuration_directory()
        self._conf = SiteConfiguration.read(directory)
        super().__init__(_fitting(plan, self._cluster, say), say)
        self._nodes = Nodes(self._cluster, options.reach)
        check_options(options)
        self.place = SitePlace(
            self._cluster,
            options.cluster_file,
            self._conf,
            self.learned.parent / "tmp",
            plan.limit_seconds,
        )
        self._jobs: Jobs | None = None

    @property
    def learned(self) -> Path:
        """The file that keeps how long runs take on this site."""
        return state_directory(f"bench-run-{self._cluster.site}") / "run-seconds.json"

    @property
    def properties(self) -> Mapping[str, str]:
        """The properties of the site's Hadoop configuration."""
        return self._conf.properties

    def arm(self, experiment: Experiment) -> Arm:
        """Returns the arm that an experiment runs as."""
        tez = _staged_arm(self._tez_jars, self.directory) if self._tez_jars else None
        return arm_of(experiment, self._plan.properties, tez, self._conf.hdfs)

    def check(self, experiments: Sequence[Experiment]) -> None:
        """Raises BadInput for experiments that do not fit this site, VasError where it is broken.

        Fetches Tez if it is wanted.
        """
        if any(each.in_hdfs for each in experiments) and not self._conf.hdfs:
            hint = "set dfs.namenode.rpc-address there, or leave yarn-hdfs out"
            raise BadInput("the site has no HDFS", where=str(self._conf.directory), hint=hint)
        if any(each.jvm != "lab" for each in experiments):
            hint = "leave it out: heaps are the site's, or the plan's `properties`"
            raise BadInput("these are a lab's profiles", where="parameters.jvm", hint=hint)
        check_mount(self._root, self._cluster)
        self.place.refuse_broken()
        self._fetch_tez(experiments)

    def identify(self, experiment: Experiment) -> RunIdentity[Experiment]:
        """Returns an experiment with its configuration and versions."""
        told = site_configuration(
            experiment, self._plan.properties, self._page_cache, hdfs=self._conf.hdfs
        )
        ours: dict[str, Any] = {
            "site": self._cluster.site,
            # Whatever of it changes makes another experiment; its words are the site's own.
            "site_configuration": canonical_hash(dict(self._conf.properties)),
        }
        return RunIdentity(experiment, told | ours, versions_for(experiment, versions()))

    def environment(self) -> Mapping[str, JsonValue]:
        """Returns facts about this machine, and how YARN's nodes differ from the map's."""
        lost, others = self.place.nodes()
        names: dict[str, JsonValue] = {"lost_nodes": [*lost], "other_nodes": [*others]}
        return {**environment(self._root), **names}

    def up(self, experiment: Experiment) -> None:
        """Starts nothing; removes what an interrupted session of this user left.

        Raises BadInput if its directory is somebody else's.
        """
        if self._jobs:
            return
        history = ("--history", self._conf.history(self._cluster))
        there = inside(self.place, self.directory)
        if is_left_over(there):
            self._clear()
        make(there)
        web = self._conf.name_node_web(self._cluster)
        place = WithTez(self.place, f"{self.directory}/{_TEZ_HISTORY}")
        self._jobs = Jobs(place, self.directory, self._say, self._conf.hdfs, history, web)
        if self._tez_jars:
            _stage(there, (*self._tez_jars, *_jars_of(class_path())))

    def drop_caches(self) -> None:
        """Empties the nodes' page caches, as far as that is wanted and allowed."""
        os.sync()
        if self._drops:
            self._nodes.drop_caches(servers=self._options.drops == "all")

    def run(self, experiment: Experiment) -> Mapping[str, float]:
        """Runs the job and returns what it and its nodes counted."""
        before, _ = self._nodes.look()
        job = self.jobs.run(experiment, self.arm(experiment))
        after, caches = self._nodes.look()
        found = job_measures(job) | after.since(before) | caches
        # The client knows nothing of the CPU on other machines.
        del found["cpu_seconds"]
        if (used := found.pop("cpu_microseconds", None)) is not None:
            found["cpu_seconds"] = used / _MICROSECONDS
        return meant(experiment, found)

    def down(self) -> None:
        """Removes all data that it made. The site stays as it is."""
        if self._jobs:
            self._jobs = None
            self._clear()

    def _clear(self) -> None:
        remove_tree(self.place, self.directory)
        if self._plan.with_hdfs:
            remove_tree(self.place, f"{self._conf.hdfs}{self.directory}")

    @property
    def directory(self) -> str:
        """The directory of the data, below the one the user named; it is removed at the end."""
        return str(PurePosixPath("/", self._options.directory, f"vas-bench-{self._plan.name}"))

    @property
    def jobs(self) -> Jobs:
        """The jobs of the site, once `up` was called."""
        assert self._jobs is not None, "up() comes first"
        return self._jobs

    @property
    def _drops(self) -> bool:
        return self._plan.drop_caches and self._options.drops != "none"

    @property
    def _page_cache(self) -> str:
        of = "all" if self._options.drops == "all" else "the guests"
        return f"of {of} dropped before the run" if self._drops else "as the run before left it"


def _fitting(plan: BenchPlan, cluster: Cluster, say: Callable[[str], None]) -> BenchPlan:
    """The plan on the site's guests and with its lock mode. Raises BadInput where it names others.

    A site has as many hosts as it has.
    """
    here, wanted = len(cluster.guests()), plan.parameters.hosts
    if not here:
        raise BadInput("no host has a guest", where="hosts", hint="YARN runs in the guests")
    if len(wanted) > 1:
        hint = "a curve over hosts needs a map and a run for each"
        raise BadInput(f"the site has {here} guests", where="parameters.hosts", hint=hint)
    if wanted != (here,):
        say(f"all {here} guests of the site are used; parameters.hosts is not")
    for arm in (each for each in (INTERMEDIATE, COMPUTE) if each.system in plan.systems):
        hint = "set local-dirs of its NodeManagers to directories on Lustre, and run yarn-lustre"
        what = "where a site's nodes are and keep map output is in their own configuration"
        raise BadInput(what, where=f"systems: {arm.system}", hint=hint)
    flock, mode = plan.parameters.flock, cluster.lustre.flock
    if flock not in ((Flock.FLOCK,), (mode,)):
        hint = "mount it otherwise, change the map, and run the plan once for each mode"
        raise BadInput(f"the site's lock mode is {mode.value}", where="parameters.flock", hint=hint)
    # A site's links are what they are: the parameter is a lab's.
    changed = {"hosts": (here,), "flock": (mode,), "links": ("free",)}
    return plan.model_copy(update={"parameters": plan.parameters.model_copy(update=changed)})


def _jars_of(class_path: Iterable[Path]) -> list[Path]:
    """Returns the jars of a Hadoop that Tez runs MapReduce's jobs with.

    A site's `yarn.application.classpath` need not have them; Tez's own minimal archive has.
    """
    return [jar for jar in class_path if _MAPREDUCE.fullmatch(jar.name)]


def _stage(directory: Path, jars: Iterable[Path]) -> None:
    """Puts the jars where YARN takes them from, for every container."""
    target = directory / _TEZ_JARS
    target.mkdir(parents=True)
    for jar in jars:
        shutil.copyfile(jar, target / jar.name)


def _staged_arm(jars: tuple[Path, ...], directory: str) -> Arm:
    """The site's jobs on Tez: its own JVM flags, heaps and container sizes."""
    properties = job_properties(f"{directory}/{_TEZ_HISTORY}") | {
        "tez.history.logging.service.class": _LOGGER,
        # A path of the default file system, from where the jars come into each container's
        # own directory.
        "tez.lib.uris": f"{directory}/{_TEZ_JARS}",
    }
    return arm_on(properties, jars)
