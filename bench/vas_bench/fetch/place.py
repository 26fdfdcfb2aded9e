"""The place of a session: programs, map output on disk, and a network for each round."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel

from vas_bench.engine.observe import Observation
from vas_bench.fetch.request import FetchAnswer, FetchCounts, FetchRequest, PartitionSum
from vas_bench.fetch.subjects import STOCK_OF, WITH_TLS, FetchSubject
from vas_bench.fetch.tls import make_tls
from vas_bench.results.environment import build_of, lab_versions
from vas_bench.results.systems import Fetching
from vas_bench.run.own_jobs import workloads_jar
from vas_core.errors import NotHere
from vas_core.process import run
from vas_lab.hadoop.shuffled import find_shuffled
from vas_lab.spec import find_java
from vas_lab.state import default_directory
from vas_yarn.jars import find_hadoop, find_plugins

_ALONE = ("unshare", "--user", "--map-root-user", "--net")
_OUTPUTS = "org.vas.workloads.fetch.StockOutputs"
_TIMEOUT_SECONDS = 1800
_GIB = 1 << 30
# The server is to read from the page cache: with less of the map output in it a run is INVALID.
_LEAST_CACHED = 0.99


class WrittenOutputs(BaseModel):
    """The map output of one number of clients: its bytes, and each partition's records."""

    written: int
    partitions: tuple[PartitionSum, ...]


def check_machine() -> None:
    """Raises NotHere without a program of the system, and where a user may make no network."""
    for program in ("unshare", "ip", "fincore"):
        if shutil.which(program) is None:
            raise NotHere(f"no {program} on PATH", hint="run `vas doctor` for the package")
    if run([*_ALONE, "true"], check=False).status != 0:
        hint = "run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone)"
        raise NotHere("a network of its own cannot be made", where="unshare", hint=hint)


class FetchPlace:
    """A directory with map output for each number of clients, made when it is first needed."""

    def __init__(self, directory: Path, subject: FetchSubject) -> None:
        self._directory, self._sizes = directory, subject
        self._java = find_java()
        self._classpath = f"{workloads_jar()}:{find_hadoop()}/*:{find_plugins()}"
        self._outputs: dict[int, WrittenOutputs] = {}

    @classmethod
    @contextmanager
    def open(cls, subject: FetchSubject) -> Iterator[FetchPlace]:
        """Yields a place for subjects of these sizes, which is removed at the end.

        Raises NotHere where a program is not built.
        """
        above = default_directory("bench")
        above.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=above, prefix="fetch-") as directory:
            yield cls(Path(directory), subject)

    def play(self, subject: FetchSubject) -> Observation:
        """Plays a subject once. Raises VasError when a part of it fails."""
        outputs = self._written(subject.clients)
        with tempfile.TemporaryDirectory(dir=self._directory, prefix="work-") as work:
            request = self._request(subject, outputs, work)
            inside = [*_ALONE, sys.executable, "-P", "-m", "vas_bench.fetch.inside"]
            asked = request.model_dump_json()
            done = run(inside, stdin=asked, timeout_seconds=_TIMEOUT_SECONDS)
        answer = FetchAnswer.model_validate_json(done.stdout.splitlines()[-1])
        return observed(answer, outputs.written)

    def _written(self, clients: int) -> WrittenOutputs:
        if clients not in self._outputs:
            numbers = (self._sizes.maps, clients, self._sizes.size_bytes)
            flags = ("-Xmx1g", "-XX:+UseSerialGC", "-cp", self._classpath, _OUTPUTS)
            words = (str(self._served(clients)), *map(str, numbers))
            done = run([self._java / "bin/java", *flags, *words], timeout_seconds=_TIMEOUT_SECONDS)
            last = done.stdout.splitlines()[-1]
            self._outputs[clients] = WrittenOutputs.model_validate_json(last)
        return self._outputs[clients]

    def _served(self, clients: int) -> Path:
        return self._directory / f"served-{clients}"

    def _request(self, subject: FetchSubject, outputs: WrittenOutputs, work: str) -> FetchRequest:
        tls = self._tls() if subject.system in WITH_TLS else None
        return FetchRequest(
            system=subject.system,
            clients=subject.clients,
            maps=subject.maps,
            heap_mib=subject.heap_mib,
            java=str(self._java / "bin/java"),
            classpath=self._classpath,
            shuffled=str(find_shuffled()) if subject.system in STOCK_OF else "",
            served=str(self._served(subject.clients)),
            work=work,
            tls=tls,
            read_bytes=subject.read_bytes,
            expected=outputs.partitions,
        )

    def _tls(self) -> str:
        directory = self._directory / "tls"
        if not directory.exists():
            make_tls(directory, self._java)
        return str(directory)


def versions(arm: Fetching) -> Mapping[str, str]:
    """Returns the versions and builds of an arm's programs. Raises NotHere if one is not built."""
    found = lab_versions(find_hadoop(), find_java())
    jars = {"plugins": build_of(find_plugins()), "workloads": build_of(workloads_jar())}
    daemon = {"vas-shuffled": build_of(find_shuffled())} if arm in STOCK_OF else {}
    return found | jars | daemon


def observed(answer: FetchAnswer, written: int) -> Observation:
    """Returns the measures of a round in which all clients together read `written` bytes."""
    wrong = answer.wrong
    cached = min(answer.fresh.cached_share, answer.again.cached_share)
    if not wrong and cached < _LEAST_CACHED:
        wrong = f"only {cached:.1%} of the map output was in the page cache"
    fresh = _measures(answer.fresh, written, "")
    return Observation(fresh | _measures(answer.again, written, ", again"), wrong=wrong)


def _measures(counts: FetchCounts, written: int, which: str) -> dict[str, float]:
    clients = counts.client_cpu + counts.client_daemon_cpu
    cpu = {
        "all": clients + counts.server_cpu,
        "clients": clients,
        "daemons of clients": counts.client_daemon_cpu,
        "server": counts.server_cpu,
    }
    found = {f"cpu_seconds_per_gib/{part}": s * _GIB / written for part, s in cpu.items()}
    found |= {
        "wall_seconds/fetch": counts.wall_seconds,
        "requests/server": counts.requests,
        "connections/server": counts.connections,
        "peak_memory_bytes/clients": counts.client_pss,
        "peak_memory_bytes/server": counts.server_pss,
        "peak_memory_bytes/server beyond idle": counts.server_pss - counts.server_idle_pss,
        "device_read_bytes/server": counts.server_disk_bytes,
        "threads/clients": counts.client_threads,
        "threads/server": counts.server_threads,
        "reduce_spilled_records/clients": counts.spilled_records,
    }
    return {f"{name}{which}": round(float(value), 4) for name, value in found.items()}
