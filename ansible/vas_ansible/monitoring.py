"""Generates the files of Prometheus and Grafana from a site's map. Pure.

A test checks that the daemons have every metric that a rule or panel names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from vas_ansible.panels import GRANT_RATES, PANELS, Panel
from vas_cluster import Cluster

ROUTED, AFFINITYD = 9213, 9214
# Metrics of Hadoop 3.5.0's daemons at /prom; all others are VAS's own.
HADOOP_METRICS = frozenset(
    {
        "cluster_metrics_num_active_n_ms",
        "cluster_metrics_num_decommissioning_n_ms",
        "cluster_metrics_num_lost_n_ms",
        "cluster_metrics_num_unhealthy_n_ms",
        "node_manager_metrics_containers_running",
    }
)
LUSTRE_METRICS = frozenset(
    {
        "lustre_job_read_bytes_total",
        "lustre_job_stats_total",
        "lustre_job_write_bytes_total",
    }
)
"""Metrics of vas-jobstats, or of a site's own exporter of Lustre's jobstats: label `jobid`."""
JOBSTATS_METRICS = frozenset({"vas_jobstats_last_read_seconds", "vas_jobstats_left_out"})
"""Metrics of vas-jobstats alone, about its own work."""
JANITOR_METRICS = frozenset(
    {"vas_janitor_last_end_seconds", "vas_janitor_directories", "vas_janitor_failed"}
)
"""Metrics of the janitor's file, where the site's node exporter reads it."""
RUNBOOKS = "docs"
"""Where the runbook is, for the links of alerts: the URL of a directory that has runbook.md, or of
the page itself (`.../runbook.html`). This default names a directory of the project, not a URL."""
DIRECTORY = "/etc/prometheus/vas"
_FOR = "5m"


@dataclass(frozen=True)
class Alert:
    """An alert rule: a PromQL condition, how long it must hold, and a summary with the fix."""

    name: str
    expression: str
    summary: str
    severity: str = "warning"
    lasting: str = _FOR


ALERTS = (
    Alert(
        "VasDaemonSilent",
        'up{site!="",job=~"vas-.*|yarn-.*"} == 0',
        "{{ $labels.job }} on {{ $labels.instance }} does not answer: systemctl status there",
        "critical",
    ),
    Alert(
        "VasNodesLost",
        "cluster_metrics_num_lost_n_ms > 0 or cluster_metrics_num_unhealthy_n_ms > 0",
        "YARN has lost guests, or they are unhealthy: yarn node -list -all",
        "critical",
    ),
    Alert(
        "VasPathDown",
        "vas_route_path_up == 0",
        "{{ $labels.instance }}: the {{ $labels.leg }} leg is down: vas route doctor there",
    ),
    Alert(
        "VasNotByVirtio",
        'vas_route_path_in_use{leg="virtio"} == 0',
        "{{ $labels.instance }} reaches {{ $labels.peer }} on its own host by SR-IOV",
    ),
    Alert(
        "VasRouteRefused",
        "increase(vas_route_failures_total[15m]) > 0",
        "{{ $labels.instance }}: the kernel refused a route: journalctl -u vas-routed",
        lasting="0m",
    ),
    Alert(
        "VasProbesDeaf",
        "vas_route_probe_sockets < vas_route_probe_sockets_expected",
        "{{ $labels.instance }} has no probes by a leg, so nobody notices a silent death: "
        "journalctl -u vas-routed",
        "critical",
        "1m",
    ),
    Alert(
        "VasMapNotInForce",
        "vas_route_map_current == 0",
        "{{ $labels.instance }} goes on with the last good map, as cluster.yaml, route.yaml or the "
        "measured choices cannot be used: journalctl -u vas-routed",
        "critical",
        "1m",
    ),
    Alert(
        "VasProbesUnsigned",
        "vas_route_probes_signed == 0 or vas_route_key_refused == 1",
        "{{ $labels.instance }} has no usable /etc/vas/route.key: docs/routing.md, The key",
        "critical",
    ),
    Alert(
        "VasProbesForged",
        'increase(vas_route_probes_refused_total{reason=~"dropped|signature"}[15m]) > 10',
        "{{ $labels.instance }} gets probes that no node sent ({{ $labels.reason }}): "
        "journalctl -u vas-routed",
        lasting="0m",
    ),
    Alert(
        "VasPlanNotOnDisk",
        "vas_affinity_plan_current == 0",
        "{{ $labels.instance }} goes on with the last good plan, as placement.json or "
        "affinity.yaml cannot be used: journalctl -u vas-affinityd",
        "critical",
        "1m",
    ),
    Alert(
        "VasPlacementNotInForce",
        "vas_affinity_plan_in_force == 0",
        "{{ $labels.instance }} has no plan in force: vas affinity verify there",
    ),
    Alert(
        "VasPlacementTakenBack",
        "vas_affinity_held_off == 1",
        "{{ $labels.instance }}: a move hurt the watched service and was taken back",
        lasting="0m",
    ),
    Alert(
        "VasPinLost",
        'vas_affinity_violations{kind!="forbidden"} > 0',
        "{{ $labels.instance }}: others keep changing where the plan has a {{ $labels.kind }}: "
        "vas affinity verify there",
        lasting="2m",
    ),
    Alert(
        "VasGuestNotPlanned",
        'increase(vas_affinity_guest_starts_total{by=~"rule|cpuset|nothing|late"}[15m]) > 0',
        "a guest started on {{ $labels.instance }} without a plan for it ({{ $labels.by }}): "
        "journalctl -t vas-affinity-hook",
        lasting="0m",
    ),
    Alert(
        "VasPlacementFails",
        "increase(vas_affinity_failures_total[15m]) > 0",
        "{{ $labels.instance }}: {{ $labels.of }} fails: journalctl -u vas-affinityd",
        lasting="0m",
    ),
    Alert(
        "VasMapsNotLocal",
        f"rate(vas_placement_local_grants[15m]) / ({GRANT_RATES}) < 0.8 and ({GRANT_RATES}) > 0.01",
        "less than 80 % of the containers run where their data are: see the panel of causes, and "
        "vas job locality of a job",
        lasting="15m",
    ),
    Alert(
        "VasApplicationNotPlaced",
        "increase(vas_placement_applications_failed_open[15m]) > 0",
        "the placement failed for an application, whose maps run anywhere: "
        "journalctl -u vas-resourcemanager",
        lasting="0m",
    ),
    Alert(
        "VasDecisionsNotLogged",
        "increase(vas_placement_decisions_not_logged[15m]) > 0",
        "users cannot see why maps were not local: yarn/placement on the mount lacks a user's "
        "directory, or is too slow",
        lasting="0m",
    ),
    Alert(
        "VasMapOutputNotRemoved",
        "increase(vas_shuffle_failures[1h]) > 0",
        "{{ $labels.instance }} could not remove an application's map output: "
        "journalctl -u vas-nodemanager, then vas shuffle gc --dry-run",
        lasting="0m",
    ),
    Alert(
        "VasJanitorLate",
        "time() - vas_janitor_last_end_seconds > 3 * 3600",
        "{{ $labels.instance }}: the janitor of {{ $labels.staging }} has not come to its end for "
        "three hours, so what ended jobs left stays: systemctl status 'vas-shuffle-gc@*' there",
        lasting="0m",
    ),
    Alert(
        "VasJanitorFails",
        "vas_janitor_failed > 0",
        "{{ $labels.instance }}: the janitor could not move or delete directories of ended jobs in "
        "{{ $labels.staging }}: journalctl -u 'vas-shuffle-gc@*' there",
    ),
    Alert(
        "VasJobstatsStalled",
        "time() - vas_jobstats_last_read_seconds > 600",
        "{{ $labels.instance }}: the servers' lists of jobs have not been read for ten minutes, so "
        "the panels of applications show old counts: systemctl status vas-jobstats there",
        lasting="0m",
    ),
    Alert(
        "VasMapOutputDamaged",
        "increase(vas_shuffle_validation_failures[15m]) > 0",
        "{{ $labels.instance }}: reduce tasks found map outputs lost or damaged, whose maps run "
        "again: look for errors of Lustre and of the network",
        lasting="0m",
    ),
)


def monitoring_files(cluster: Cluster, runbooks: str = RUNBOOKS) -> dict[str, str]:
    """Returns file name -> text: targets and rules for Prometheus, a dashboard for Grafana.

    `runbooks` is where the links of alerts find the runbook, as RUNBOOKS says. `scrape.yml` is the
    part of prometheus.yml that includes targets and rules.
    """
    return {
        "dashboard.json": json.dumps(dashboard(), indent=2) + "\n",
        "rules.yml": yaml.safe_dump(rules(runbooks), sort_keys=False),
        "scrape.yml": yaml.safe_dump(scrape(), sort_keys=False),
        "targets.json": json.dumps(list(targets(cluster)), indent=2) + "\n",
    }


def scrape() -> dict[str, object]:
    """Returns the settings that a site adds to its prometheus.yml."""
    job = {"job_name": "vas", "file_sd_configs": [{"files": [f"{DIRECTORY}/targets.json"]}]}
    return {"rule_files": [f"{DIRECTORY}/rules.yml"], "scrape_configs": [job]}


def targets(cluster: Cluster) -> Iterator[dict[str, object]]:
    """Yields every endpoint of the site's daemons, in the format of file_sd_configs."""
    guests = cluster.guests()
    legs = {host.name: host.address for host in cluster.hosts}
    servers = {host.name: host.address for host in cluster.hosts if host.guests}
    nodes = {guest.name: guest.address for guest in guests}
    manager = cluster.yarn.resourcemanager.name
    yield from _job(cluster, "vas-routed", ROUTED, "/metrics", legs | nodes)
    yield from _job(cluster, "vas-affinityd", AFFINITYD, "/metrics", servers)
    yield from _job(cluster, "yarn-nodemanager", 8042, "/prom", nodes)
    at = {manager: cluster.resourcemanager_address}
    yield from _job(cluster, "yarn-resourcemanager", 8088, "/prom", at)
    yield from _job(cluster, "yarn-jobhistory", 19888, "/prom", at)


def _job(
    cluster: Cluster, job: str, port: int, path: str, nodes: dict[str, str]
) -> Iterator[dict[str, object]]:
    """A target for each node: asked at its address, called by its name."""
    for name, address in nodes.items():
        at = f"[{address}]" if ":" in address else address
        labels = {"job": job, "instance": name, "site": cluster.site, "__metrics_path__": path}
        yield {"targets": [f"{at}:{port}"], "labels": labels}


def rules(runbooks: str = RUNBOOKS) -> dict[str, object]:
    """Returns the alert rules in Prometheus' format, each with a link to its runbook."""
    page = runbooks if runbooks.endswith((".html", ".md")) else f"{runbooks.rstrip('/')}/runbook.md"
    found = [
        {
            "alert": alert.name,
            "expr": alert.expression,
            "for": alert.lasting,
            "labels": {"severity": alert.severity},
            "annotations": {
                "summary": alert.summary,
                "runbook_url": f"{page}#{alert.name.lower()}",
            },
        }
        for alert in ALERTS
    ]
    return {"groups": [{"name": "vas", "rules": found}]}


def dashboard() -> dict[str, object]:
    """Returns the dashboard in Grafana's format, two panels per row."""
    source = {"type": "prometheus", "uid": "${datasource}"}
    chosen = {"name": "datasource", "type": "datasource", "query": "prometheus"}
    return {
        "uid": "vas-site",
        "title": "VAS",
        "tags": ["vas"],
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [chosen]},
        "panels": [_panel(number, panel, source) for number, panel in enumerate(PANELS)],
    }


def _panel(number: int, panel: Panel, source: dict[str, str]) -> dict[str, object]:
    expressions = enumerate(panel.lines.items())
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": source,
        "gridPos": {"x": 12 * (number % 2), "y": 8 * (number // 2), "w": 12, "h": 8},
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + i), "expr": expression, "legendFormat": legend}
            for i, (legend, expression) in expressions
        ],
    }
