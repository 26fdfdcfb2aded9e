"""A whole site of hosts, on the lab's stand-in for Lustre, and its scientist's jobs."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from vas_cluster import load_cluster
from vas_core.polling import poll
from vas_core.process import CommandFailed, Completed
from vas_core.repository import REPOSITORY
from vas_tests.hosts.compare import Picture, differences, look
from vas_tests.hosts.guest import DISKS
from vas_tests.hosts.login import SCIENTIST, as_scientist, prepare
from vas_tests.hosts.lustre import SharedLustre
from vas_tests.hosts.network import shape
from vas_tests.hosts.site import PlaybookOutcome, Site, site_of_hosts
from vas_tests.hosts.yarn import applications, running_nodes

MAP = Path(__file__).with_name("whole.yaml")
MANAGER = "rm1"
ROWS = 2_560_000
"""Rows of 100 bytes that are sorted: 244 MiB."""
_FILES = 4
_SORT = {
    "mapreduce.input.fileinputformat.split.maxsize": 4 << 20,
    "mapreduce.job.reduces": 4,
}
# A JVM for each of the 62 maps, some at a time: so a job is in its middle for a minute.
_SLOWLY = {"vas.containers.reuse": "off", "mapreduce.job.running.map.limit": 4}
_BEGUN_PERCENT = 10.0
_PLAY_SECONDS = 2400.0
_BEGIN_SECONDS = 300.0
_PROGRAMS = "/usr/lib/vas/hadoop/hadoop-mapreduce-examples-*.jar"
_CHECKSUM = re.compile(r"\bCHECKSUM=(-?\d+)")
Variables = dict[str, object]


@dataclass
class WholeSite:
    """A site with everything, and what its playbooks are told.

    `before`: machine -> its state before the first playbook. `checksum`: that of the generated
    rows, once there are any.
    """

    site: Site
    lustre: SharedLustre
    variables: Variables
    before: Mapping[str, Picture]
    checksum: int | None = None
    passed: set[str] = field(default_factory=set)
    """The steps that later ones build on, and that were passed."""

    @classmethod
    @contextmanager
    def of(cls, directory: Path, variables: Variables) -> Iterator[WholeSite]:
        """Starts the machines for the body; they are as a site has them before VAS comes.

        Raises VasError if a machine does not come up.
        """
        cluster = load_cluster(MAP)
        with (
            SharedLustre.of(cluster) as lustre,
            site_of_hosts(directory, map_file=MAP, mounts=lustre.mounts) as site,
        ):
            for name, machine in site.hosts.items():
                if not cluster.host(name):
                    lustre.install(machine)
            prepare(site)
            shape(cluster, site.hosts)
            with lustre.served_by(site.hosts[MANAGER]):
                before = {name: _look(site, name) for name in site.hosts}
                told = variables | {"vas_hadoop_users": [SCIENTIST]}
                told["vas_hadoop_properties"] = lustre.properties
                yield cls(site, lustre, told, before)

    @property
    def servers(self) -> dict[str, str]:
        """Returns storage server -> its guest."""
        return {host.name: host.guests[0].name for host in self.site.cluster.hosts}

    def play(
        self, name: str, more: Variables | None = None, *, check: bool = True
    ) -> PlaybookOutcome:
        """Runs a playbook of the project, and prints how long it took.

        Raises CommandFailed with its output if a task failed, unless `check` is false.
        """
        started = time.monotonic()
        variables = self.variables | (more or {})
        playbook = REPOSITORY / "ansible" / name
        try:
            done = self.site.play(playbook, variables, check=check, timeout_seconds=_PLAY_SECONDS)
        except CommandFailed as failed:
            # An error tells the end of the output alone.
            print(failed.completed.stdout)
            raise
        print(f"{name}: {time.monotonic() - started:.0f} s")
        return done

    @contextmanager
    def playing(self, name: str, more: Variables) -> Iterator[None]:
        """Runs a playbook of the project beside the body, and then waits for its end.

        Raises AssertionError if it fails; its output is printed.
        """
        playbook = REPOSITORY / "ansible" / name
        process = self.site.start(playbook, self.variables | more)
        try:
            yield
            assert process.wait(_PLAY_SECONDS) == 0
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            print(self.site.log_of(playbook).read_text())

    def running_guests(self, server: str) -> list[str]:
        """Returns the guests that run in a storage server's libvirt."""
        return self.site.hosts[server].run("virsh", "list", "--name").stdout.split()

    def route(self, source: str, to: str) -> str:
        """Returns how a machine's kernel reaches another one's address."""
        addresses = {host.name: host.address for host in self.site.cluster.hosts}
        addresses |= {guest.name: guest.address for guest in self.site.cluster.guests()}
        return self.site.hosts[source].run("ip", "route", "get", addresses[to]).stdout

    def wait_for_nodes(self, *names: str, seconds: float = 180.0) -> None:
        """Waits until exactly these guests are running nodes of YARN. Raises VasError."""

        def found() -> list[str]:
            return sorted(running_nodes(self.site, MANAGER))

        poll(found, lambda seen: seen == sorted(names), seconds, f"YARN's nodes {names}")

    def changes(self) -> dict[str, str]:
        """Returns machine -> what is not as it was before, for machines that differ."""
        found = {
            name: differences(before, _look(self.site, name))
            for name, before in self.before.items()
        }
        return {name: text for name, text in found.items() if text}

    # ---- the scientist ----

    def scientist(self, command: str, *, check: bool = True) -> Completed:
        """Runs a command on the login node as the scientist. Raises CommandFailed."""
        return as_scientist(self.site, command, self.lustre.variables, check=check)

    def submit(self, program: str) -> Completed:
        """Runs one of Hadoop's examples by `vas submit`. Raises CommandFailed if it fails."""
        return self.scientist(f"vas submit {_PROGRAMS} {program}")

    def generate(self) -> None:
        """Makes the rows in the scientist's directory `in`."""
        done = self.submit(f"teragen -Dmapreduce.job.maps={_FILES} {ROWS} in")
        (checksum,) = _CHECKSUM.findall(done.stdout + done.stderr)
        self.checksum = int(checksum) % 2**64

    def sort(self, name: str, more: Mapping[str, object] | None = None) -> Completed:
        """Sorts the rows into the scientist's directory `name`; `more` are the job's properties."""
        properties = {**_SORT, **(more or {})}
        options = " ".join(f"-D{key}={value}" for key, value in properties.items())
        return self.submit(f"terasort {options} in {name}")

    def assert_sorted(self, name: str) -> None:
        """Asserts that the directory `name` has the generated rows, in order."""
        self.submit(f"teravalidate {name} {name}-report")
        home = f"{self.site.cluster.lustre.mount}/user/{SCIENTIST}"
        read = f"cat {home}/{name}-report/part-r-*"
        report = self.site.hosts[MANAGER].run("sh", "-c", read).stdout
        # A row out of order is a line of its own.
        (line,) = report.splitlines()
        word, checksum = line.split()
        assert word == "checksum", report
        assert int(checksum, 16) % 2**64 == self.checksum, report

    @contextmanager
    def sorting(self, name: str) -> Iterator[RunningSort]:
        """Sorts the rows, slowly, beside the body, which starts when some maps are done."""
        with ThreadPoolExecutor(1) as beside:
            job = RunningSort(self, name, beside.submit(self.sort, name, _SLOWLY))
            poll(job.progress, lambda seen: seen > _BEGUN_PERCENT, _BEGIN_SECONDS, name)
            yield job


def _look(site: Site, name: str) -> Picture:
    """Without guests' disks, Lustre, and the scientist's home, which are the site's."""
    return look(site.hosts[name], (DISKS, site.cluster.lustre.mount, f"/home/{SCIENTIST}"))


@dataclass(frozen=True)
class RunningSort:
    """A job that sorts the rows into the directory `name` meanwhile."""

    whole: WholeSite
    name: str
    _done: Future[Completed]

    def still_runs(self) -> None:
        """Asserts that the job is not over."""
        assert not self._done.done(), f"{self.name} is over already: make the job longer"

    def ends_right(self) -> None:
        """Waits for the job's end, and asserts that its output is right."""
        self._done.result()
        self.whole.assert_sorted(self.name)

    def progress(self) -> float:
        """Returns the progress in percent of the application that runs; 0 if none does yet.

        Raises CommandFailed if the job failed, AssertionError if it is over.
        """
        if self._done.done():
            self._done.result()
        self.still_runs()
        known = applications(self.whole.site, MANAGER)
        running = [float(app["progress"]) for app in known if app["state"] == "RUNNING"]
        return max(running, default=0.0)
