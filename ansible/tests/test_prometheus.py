"""A real Prometheus loads a site's files, asks each daemon once, and answers every panel."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from prometheus_client import generate_latest

from vas_affinity.daemon.metrics import AffinityMetrics
from vas_ansible.monitoring import ALERTS, monitoring_files
from vas_ansible.panels import PANELS
from vas_cluster import load_cluster
from vas_core.polling import poll
from vas_routing.daemon.metrics import RouteMetrics

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="not installed: prometheus"),
]
SITE = load_cluster(Path(__file__).parents[2] / "cluster/examples/four-oss.yaml")
# As Hadoop's PrometheusMetricsSink and an exporter of Lustre's jobstats print them.
_HADOOP = """# TYPE cluster_metrics_num_lost_n_ms gauge
cluster_metrics_num_lost_n_ms{context="yarn",hostname="yarn-rm"} 2
"""
_JOBSTATS = """# TYPE lustre_job_read_bytes_total counter
lustre_job_read_bytes_total{component="ost",jobid="app_1_0001",target="scratch-OST0000"} 4096
"""


class _Daemons(BaseHTTPRequestHandler):
    """Every daemon of the site: at `/metrics` those of VAS, at `/prom` Hadoop's."""

    def do_GET(self) -> None:
        pages = {"/prom": _HADOOP.encode(), "/job": _JOBSTATS.encode()}
        registries = (RouteMetrics().registry, AffinityMetrics().registry)
        pages["/metrics"] = b"".join(map(generate_latest, registries))
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(pages[self.path])

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


@pytest.fixture(scope="module")
def daemons() -> Iterator[int]:
    """The port at which all daemons of the site answer."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Daemons) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def write_files(directory: Path, daemons: int) -> Path:
    """The site's files, its daemons at this machine's port, and an exporter of the site's own."""
    for name, text in monitoring_files(SITE).items():
        (directory / name).write_text(text.replace("/etc/prometheus/vas", str(directory)))
    targets = json.loads((directory / "targets.json").read_text())
    for target in targets:
        # One name for all, so that Prometheus tells them apart by the site's labels alone.
        target["targets"] = [f"127.0.0.1:{daemons}"]
    (directory / "targets.json").write_text(json.dumps(targets))
    settings = yaml.safe_load((directory / "scrape.yml").read_text())
    settings["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    lustre = {"job_name": "lustre", "metrics_path": "/job"}
    lustre["static_configs"] = [{"targets": [f"127.0.0.1:{daemons}"]}]
    settings["scrape_configs"].append(lustre)
    file = directory / "prometheus.yml"
    file.write_text(yaml.safe_dump(settings))
    return file


class Prometheus:
    """A running Prometheus, asked by its API."""

    def __init__(self, at: str) -> None:
        self.at = at

    def get(self, path: str, **query: str) -> dict[str, object]:
        """Returns the answer's data; raises HTTPError where Prometheus refuses the question."""
        words = urllib.parse.urlencode(query)
        with urllib.request.urlopen(f"{self.at}/api/v1/{path}?{words}", timeout=10) as page:
            found: dict[str, object] = json.load(page)["data"]
        return found

    def rows(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """Returns the labels and the value of each series that an expression finds."""
        found = self.get("query", query=expression)["result"]
        assert isinstance(found, list)
        return [(row["metric"], float(row["value"][1])) for row in found]

    def active(self) -> int:
        """Returns how many targets have been asked with success; 0 while it starts."""
        try:
            return len(self.rows("up == 1"))
        except OSError:
            return 0


@pytest.fixture(scope="module")
def prometheus(daemons: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    directory = tmp_path_factory.mktemp("prometheus")
    file, port = write_files(directory, daemons), free_port()
    argv = ("prometheus", f"--config.file={file}", f"--web.listen-address=127.0.0.1:{port}")
    with (directory / "log").open("w") as log:
        daemon = subprocess.Popen(
            (*argv, f"--storage.tsdb.path={directory}/data"), stdout=log, stderr=log
        )
    asked = Prometheus(f"http://127.0.0.1:{port}")
    try:
        # 8 daemons of routes, 4 of pins, 4 NodeManagers, two masters, and the exporter.
        poll(asked.active, lambda number: number == 19, 60, "all targets asked")
        yield asked
    finally:
        daemon.terminate()
        daemon.wait(timeout=30)


def test_a_daemon_has_the_site_s_names(prometheus: Prometheus) -> None:
    found = {(labels["job"], labels["instance"]) for labels, _ in prometheus.rows('up{site!=""}')}
    assert len(found) == 18
    assert {("vas-routed", "vas01.hpc.example"), ("yarn-nodemanager", "vas01.hpc.example")} <= found
    assert ("vas-affinityd", "oss01.hpc.example") in found


def test_every_rule_is_evaluated_without_an_error(prometheus: Prometheus) -> None:
    def health() -> dict[str, str]:
        (group,) = prometheus.get("rules")["groups"]
        return {rule["name"]: rule["health"] for rule in group["rules"]}

    found = poll(health, lambda each: "unknown" not in each.values(), 30, "rules evaluated")
    assert found == {alert.name: "ok" for alert in ALERTS}


def test_nodes_that_are_lost_raise_the_alert(prometheus: Prometheus) -> None:
    ask = 'ALERTS{alertname="VasNodesLost",severity="critical",alertstate="pending"}'
    # Each daemon of YARN's has the same page here: 4 NodeManagers and two masters.
    found = poll(lambda: prometheus.rows(ask), lambda rows: len(rows) == 6, 30, "the alerts")
    jobs = {labels["job"] for labels, _ in found}
    assert jobs == {"yarn-nodemanager", "yarn-resourcemanager", "yarn-jobhistory"}


def test_every_panel_is_answered(prometheus: Prometheus) -> None:
    for panel in PANELS:
        for expression in panel.lines.values():
            prometheus.rows(expression)
    ask = next(line for panel in PANELS for line in panel.lines.values() if "job_read" in line)
    found = poll(lambda: prometheus.rows(ask), bool, 30, "a rate of an application")
    assert found == [({"jobid": "app_1_0001"}, 0.0)]
