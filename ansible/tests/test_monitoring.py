"""Prometheus' targets and rules and Grafana's dashboard, as a map implies them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from vas_affinity.daemon.metrics import AffinityMetrics
from vas_ansible.monitoring import (
    ALERTS,
    HADOOP_METRICS,
    PANELS,
    dashboard,
    monitoring_files,
    targets,
)
from vas_cluster import load_cluster
from vas_core.process import run
from vas_routing.daemon.metrics import RouteMetrics

SITE = load_cluster(Path(__file__).parents[2] / "cluster/examples/four-oss.yaml")
_FUNCTIONS = {"increase", "rate", "sum", "by", "le", "instance", "histogram_quantile", "or", "up"}


def ours() -> set[str]:
    families = [*RouteMetrics().registry.collect(), *AffinityMetrics().registry.collect()]
    ends = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}
    return {f.name + end for f in families for end in ends.get(f.type, ("",))}


def test_every_metric_that_is_named_is_a_daemon_s() -> None:
    texts = [alert.expression for alert in ALERTS]
    texts += [expression for panel in PANELS for expression in panel.lines.values()]
    bare = (re.sub(r"\{[^}]*\}|\[[^]]*\]", "", text) for text in texts)
    named = {word for text in bare for word in re.findall(r"[a-z_]+", text)} - _FUNCTIONS
    assert named <= ours() | HADOOP_METRICS, named - ours() - HADOOP_METRICS
    assert named >= HADOOP_METRICS


def test_each_daemon_of_each_machine_is_asked_once() -> None:
    found = list(targets(SITE))
    assert len({str(target["targets"]) for target in found}) == len(found)
    by_job: dict[str, list[str]] = {}
    for target in found:
        labels = target["labels"]
        assert isinstance(labels, dict)
        by_job.setdefault(labels["job"], []).append(labels["instance"])
    assert {job: len(names) for job, names in by_job.items()} == {
        "vas-routed": 8,
        "vas-affinityd": 4,
        "yarn-nodemanager": 4,
        "yarn-resourcemanager": 1,
        "yarn-jobhistory": 1,
    }


def test_the_dashboard_s_panels_do_not_overlap() -> None:
    board = json.loads(json.dumps(dashboard()))
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
    assert len(set(places)) == len(places) == len(PANELS)
    assert all(panel["targets"] for panel in board["panels"])


@pytest.mark.machine
@pytest.mark.skipif(shutil.which("promtool") is None, reason="not installed: promtool")
def test_prometheus_accepts_its_files(tmp_path: Path) -> None:
    for name, text in monitoring_files(SITE).items():
        text = text.replace("/etc/prometheus/vas", str(tmp_path))
        (tmp_path / name).write_text(text)
    run(["promtool", "check", "config", tmp_path / "scrape.yml"])
    run(["promtool", "check", "rules", tmp_path / "rules.yml"])
