"""Prometheus' targets and rules and Grafana's dashboard, as a map implies them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from vas_affinity.daemon.metrics import AffinityMetrics
from vas_ansible.monitoring import (
    ALERTS,
    HADOOP_METRICS,
    JANITOR_METRICS,
    JOBSTATS_METRICS,
    LUSTRE_METRICS,
    dashboard,
    monitoring_files,
    targets,
)
from vas_ansible.panels import CAUSES, PANELS
from vas_cluster import load_cluster
from vas_core.cli import run_command
from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_routing.daemon.metrics import RouteMetrics
from vas_tests.pages import anchors
from vas_yarn.jobstats import metrics as jobstats
from vas_yarn.shuffle.janitor.metrics import write_metrics

SITE = load_cluster(Path(__file__).parents[2] / "cluster/examples/four-oss.yaml")
_FUNCTIONS = {
    "increase",
    "rate",
    "sum",
    "by",
    "le",
    "instance",
    "histogram_quantile",
    "or",
    "up",
    "and",
    "on",
    "topk",
    "jobid",
    "target",
    "time",
}


ANSIBLE = Path(__file__).parents[1] / "vas_ansible"
_PLUGINS = Path(__file__).parents[2] / "yarn-plugins"
# As org.apache.hadoop.metrics2.sink.PrometheusMetricsSink splits a record's and a metric's names.
_SPLIT = re.compile(r"(?<![A-Z_])(?<!^)(?=[A-Z])|(?<!^)(?=[A-Z][a-z])")


def prometheus_name(record: str, metric: str) -> str:
    return "_".join(_SPLIT.split(record + metric)).lower()


def of_the_plugins() -> set[str]:
    """The metrics of the ResourceManager's and the NodeManager's plugins, from their sources."""
    found = set()
    for path in (
        "scheduler/src/main/java/org/vas/scheduler/PlacementMetrics.java",
        "shuffle/src/main/java/org/vas/shuffle/node/NodeMetrics.java",
    ):
        text = (_PLUGINS / path).read_text()
        (record,) = re.findall(r'String NAME = "(\w+)"', text)
        named = re.findall(r'new(?:Counter|Gauge)\(\s*"(\w+)",', text)
        found |= {prometheus_name(record, name) for name in named}
    # The daemon's counters, which the NodeManager takes over by their names.
    daemon = (_PLUGINS.parent / "shuffled/src/metrics.rs").read_text()
    found |= {
        f"vas_shuffled_{name}" for name in re.findall(r'^ +\("(\w+?)(?:_total)?", "', daemon, re.M)
    }
    policy = _PLUGINS / "scheduler/src/main/java/org/vas/scheduler/policy"
    for enum, form in (("GrantLocality", "{}Grants"), ("RemoteCause", "Relaxed{}")):
        labels = re.findall(
            r'^  [A-Z_]+\("([a-z-]+)"\)', (policy / f"{enum}.java").read_text(), re.M
        )
        camel = ("".join(word.capitalize() for word in label.split("-")) for label in labels)
        found |= {prometheus_name("VasPlacement", form.format(word)) for word in camel}
    return found | {prometheus_name("VasPlacement", "WaitAvgMillis")}


def test_a_name_is_split_as_hadoop_splits_it() -> None:
    assert prometheus_name("ClusterMetrics", "NumActiveNMs") in HADOOP_METRICS
    assert prometheus_name("NodeManagerMetrics", "ContainersRunning") in HADOOP_METRICS


def test_every_cause_has_a_line() -> None:
    named = {prometheus_name("VasPlacement", f"Relaxed_{cause}") for cause in CAUSES}
    relaxed = {name for name in of_the_plugins() if "_relaxed_" in name}
    assert named == relaxed - {"vas_placement_relaxed_none"}


def test_every_alert_has_its_runbook() -> None:
    sections = anchors(Path(__file__).parents[2] / "docs/runbook.md")
    for text in (
        monitoring_files(SITE)["rules.yml"],
        monitoring_files(SITE, "https://s/d/runbook.html")["rules.yml"],
        monitoring_files(SITE, "https://s/d/")["rules.yml"],
    ):
        (group,) = yaml.safe_load(text)["groups"]
        links = [rule["annotations"]["runbook_url"] for rule in group["rules"]]
        assert len(set(links)) == len(ALERTS)
        assert {link.partition("#")[2] for link in links} <= sections
    assert links[0].startswith("https://s/d/runbook.md#")


def ours() -> set[str]:
    families = [*RouteMetrics().registry.collect(), *AffinityMetrics().registry.collect()]
    ends = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}
    return {f.name + end for f in families for end in ends.get(f.type, ("",))}


def test_the_command_links_alerts_to_the_site_s_pages_or_says_that_links_lead_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "provision",
        "monitoring",
        str(tmp_path / "made"),
        "--cluster",
        str(REPOSITORY / "cluster/examples/laptop-lab.yaml"),
    ]
    assert run_command([*words, "--runbooks", "https://docs.hpc.example/vas"]) == 0
    assert "lead nowhere" not in capsys.readouterr().err
    told = yaml.safe_load((tmp_path / "made/rules.yml").read_text())
    links = {rule["annotations"]["runbook_url"] for rule in told["groups"][0]["rules"]}
    assert links
    assert all(link.startswith("https://docs.hpc.example/vas/runbook.md#") for link in links)
    assert run_command(words) == 0
    assert "give --runbooks" in capsys.readouterr().err


def test_the_janitor_s_metrics_are_those_of_its_file(tmp_path: Path) -> None:
    write_metrics(tmp_path / "janitor.prom", Path("/staging"), [], 0.0)
    text = (tmp_path / "janitor.prom").read_text()
    assert set(re.findall(r"(?m)^# TYPE (\w+) ", text)) >= JANITOR_METRICS


def test_applications_metrics_are_those_of_vas_jobstats(tmp_path: Path) -> None:
    jobstats.write_metrics(tmp_path / "jobs.prom", [], 0.0)
    found = set(re.findall(r"(?m)^# TYPE (\w+) ", (tmp_path / "jobs.prom").read_text()))
    assert found == LUSTRE_METRICS | JOBSTATS_METRICS


def test_every_metric_that_is_named_is_a_daemon_s() -> None:
    texts = [alert.expression for alert in ALERTS]
    texts += [expression for panel in PANELS for expression in panel.lines.values()]
    bare = (re.sub(r"\{[^}]*\}|\[[^]]*\]", "", text) for text in texts)
    named = {word for text in bare for word in re.findall(r"[a-z_]+", text)} - _FUNCTIONS
    files = LUSTRE_METRICS | JOBSTATS_METRICS | JANITOR_METRICS
    known = ours() | HADOOP_METRICS | files | of_the_plugins()
    assert named <= known, named - known
    assert named >= HADOOP_METRICS | files


def test_the_panel_of_applications_shows_containers_alone() -> None:
    """Whatever else uses Lustre has another name there, such as a batch system's job number."""
    (name,) = re.findall(r'"(app_)\$\{', (ANSIBLE / "hadoop.py").read_text())
    lines = [line for panel in PANELS for line in panel.lines.values() if "lustre_job" in line]
    assert lines
    assert all(f'{{jobid=~"{name}.*"}}' in line for line in lines)


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


@pytest.mark.machine
@pytest.mark.skipif(shutil.which("promtool") is None, reason="not installed: promtool")
def test_prometheus_understands_what_each_panel_asks(tmp_path: Path) -> None:
    lines = [line for panel in PANELS for line in panel.lines.values()]
    asked = [{"record": f"panel:{n}", "expr": line} for n, line in enumerate(lines)]
    made = {"groups": [{"name": "panels", "rules": asked}]}
    (tmp_path / "panels.yml").write_text(yaml.safe_dump(made))
    run(["promtool", "check", "rules", tmp_path / "panels.yml"])
