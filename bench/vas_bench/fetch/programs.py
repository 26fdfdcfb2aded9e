"""Command lines of a round's programs. Pure but for the directories that they need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from vas_bench.fetch.processes import FetchProcess
from vas_bench.fetch.request import FetchRequest
from vas_bench.fetch.subjects import DAEMON_MERGED, STOCK_OF
from vas_bench.fetch.tls import daemon_options

# As org.vas.workloads.fetch.MadeJob has them. The secret guards made-up bytes.
_APPLICATION, _USER, _SECRET = "application_17_0003", "vas", b"the secret of vas bench"
_MAIN = "org.vas.workloads.fetch"
_STOCK_CONSUMER = "org.apache.hadoop.mapreduce.task.reduce.Shuffle"
_DAEMON_CONSUMER = "org.vas.shuffle.reduce.NodeMerge"
_HTTP_PORT, _DAEMON_PORT, _METRICS_PORT = 13562, 13563, 13564
_SERVER = "127.0.0.1"
_SERVER_HEAP_MIB = 512
# As the lab's daemons and tasks have it.
_COLLECTOR = "-XX:+UseSerialGC"

Started = tuple[list[str], Path, str]


def java_command(request: FetchRequest, heap_mib: int, *words: str) -> list[str]:
    """Returns the command line of a JVM with Hadoop's classes and the benchmark's."""
    classpath = f"{request.tls}:{request.classpath}" if request.tls else request.classpath
    return [request.java, f"-Xmx{heap_mib}m", _COLLECTOR, "-cp", classpath, *words]


class Programs:
    """The programs of one round: each as the arguments with which `FetchProcess` starts it."""

    metrics_url = f"http://{_SERVER}:{_METRICS_PORT}/metrics"
    """Where the server's daemon tells its counts."""

    def __init__(self, request: FetchRequest) -> None:
        self._request = request

    @property
    def is_daemon(self) -> bool:
        """Tells whether vas-shuffled serves and fetches."""
        return self._request.system in STOCK_OF

    def server(self, work: Path) -> Started:
        """Returns how to start the server of the map output."""
        served = self._request.served
        if self.is_daemon:
            metrics = ["--metrics", f"{_SERVER}:{_METRICS_PORT}"]
            return self._daemon(_SERVER, metrics, served), work, "server"
        main = [f"{_MAIN}.StockServer", served, str(_HTTP_PORT)]
        return java_command(self._request, _SERVER_HEAP_MIB, *main), work, "server"

    def client_daemons(self, work: Path) -> Iterator[Started]:
        """Yields how to start the daemon of each client's node; for arms with the daemon."""
        for number in range(self._request.clients):
            address, local = f"127.0.0.{number + 2}", self._local(work, number)
            metrics = ["--metrics", f"{address}:{_METRICS_PORT}"]
            yield self._daemon(address, metrics, str(local)), work, f"daemon of client {number}"

    def clients_metrics_urls(self) -> list[str]:
        """Returns where the daemons of the clients' nodes tell their counts."""
        numbers = range(self._request.clients)
        return [f"http://127.0.0.{number + 2}:{_METRICS_PORT}/metrics" for number in numbers]

    def clients(self, work: Path) -> Iterator[Started]:
        """Yields how to start the JVM of each client, which fetches one partition."""
        request = self._request
        consumer = _DAEMON_CONSUMER if self.is_daemon else _STOCK_CONSUMER
        scheme = "https" if request.tls else "http"
        delivery = "merged" if request.system == DAEMON_MERGED else "segments"
        for number in range(request.clients):
            words = (str(self._local(work, number)), str(request.maps), str(request.clients))
            which = (str(number), consumer, f"{scheme}://{_SERVER}:{_HTTP_PORT}", delivery)
            main = (f"{_MAIN}.FetchClient", *words, *which, *self._reads())
            argv = java_command(request, request.heap_mib, *main)
            yield argv, work, f"client {number}"

    def tell(self, server: FetchProcess) -> None:
        """Tells a daemon the job, and waits until the server listens.

        Raises VasError if the server ends before.
        """
        if self.is_daemon:
            server.say(f"add {_APPLICATION} {_USER} {os.getuid()} {_SECRET.hex()}")
            server.hear("listening on port ")
        else:
            server.hear("ready")
        server.drain()

    def _reads(self) -> tuple[str, ...]:
        read_bytes = self._request.read_bytes
        return (str(read_bytes),) if read_bytes else ()

    def _daemon(self, address: str, options: list[str], local: str) -> list[str]:
        tls = daemon_options(Path(self._request.tls)) if self._request.tls else []
        where = ("--listen", f"{address}:{_DAEMON_PORT}")
        return [self._request.shuffled, *where, *tls, *options, local]

    @staticmethod
    def _local(work: Path, number: int) -> Path:
        local = work / f"c{number}"
        local.mkdir(exist_ok=True)
        return local
