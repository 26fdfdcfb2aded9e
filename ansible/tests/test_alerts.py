"""Each alert of a site fires when what it names happens, and only then, as Prometheus sees it."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from vas_affinity.daemon.metrics import AffinityMetrics
from vas_ansible.monitoring import ALERTS, RUNBOOKS, rules
from vas_ansible.panels import PANELS
from vas_core.process import run
from vas_routing.daemon.metrics import RouteMetrics
from vas_routing.links import Leg, PathState

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="not installed: promtool"
)
# Of the lasting states below: good until this minute, bad for some time, and good again.
_BEGINS, _LASTS, _AFTER = 20, 31, 120
_GRANTS = '{context="yarn",instance="yarn-rm"}'


@dataclass(frozen=True)
class Case:
    """Series that go from good to bad, and the alert that Prometheus must raise then.

    `changing` has for each series its good and its bad value; `steady` the values of series that
    never change. A count goes from its good value to its bad one, and stays there.
    """

    alert: str
    changing: dict[str, tuple[float, float]]
    labels: dict[str, str]
    steady: dict[str, float] = field(default_factory=dict)
    counts: bool = False

    def series(self) -> list[dict[str, str]]:
        """Returns the series in promtool's notation: one value a minute."""
        made = {name: f"{value}+0x200" for name, value in self.steady.items()}
        for name, (good, bad) in self.changing.items():
            last = bad if self.counts else good
            parts = ((good, _BEGINS), (bad, _LASTS), (last, _AFTER))
            made[name] = " ".join(f"{value}+0x{minutes - 1}" for value, minutes in parts)
        return [{"series": name, "values": values} for name, values in made.items()]


def _of(instance: str, **labels: str) -> dict[str, str]:
    return {"instance": instance} | labels


CASES = (
    Case(
        "VasDaemonSilent",
        {'up{site="s",job="vas-routed",instance="oss1"}': (1, 0)},
        _of("oss1", job="vas-routed", site="s"),
        # Of other programs, and of other sites' daemons, this is not the alert.
        {'up{site="s",job="node",instance="oss1"}': 0, 'up{job="vas-routed",instance="x"}': 0},
    ),
    *(
        Case(
            "VasNodesLost",
            {f'cluster_metrics_num_{how}_n_ms{{instance="rm"}}': (0, 1)},
            _of("rm"),
            {f'cluster_metrics_num_{other}_n_ms{{instance="rm"}}': 0},
        )
        for how, other in (("lost", "unhealthy"), ("unhealthy", "lost"))
    ),
    Case(
        "VasPathDown",
        {'vas_route_path_up{instance="oss1",leg="sriov",peer=""}': (1, 0)},
        _of("oss1", leg="sriov"),
        {'vas_route_path_up{instance="oss1",leg="virtio",peer="vm1"}': 1},
    ),
    Case(
        "VasNotByVirtio",
        {'vas_route_path_in_use{instance="oss1",leg="virtio",peer="vm1"}': (1, 0)},
        _of("oss1", leg="virtio", peer="vm1"),
        {'vas_route_path_in_use{instance="oss1",leg="sriov",peer="vm1"}': 0},
    ),
    Case(
        "VasRouteRefused",
        {'vas_route_failures_total{instance="oss1"}': (0, 1)},
        _of("oss1"),
        counts=True,
    ),
    Case(
        "VasProbesDeaf",
        {'vas_route_probe_sockets{instance="oss1"}': (2, 1)},
        _of("oss1"),
        {'vas_route_probe_sockets_expected{instance="oss1"}': 2},
    ),
    Case("VasMapNotInForce", {'vas_route_map_current{instance="oss1"}': (1, 0)}, _of("oss1")),
    Case(
        "VasProbesUnsigned",
        {'vas_route_probes_signed{instance="oss1"}': (1, 0)},
        _of("oss1"),
        {'vas_route_key_refused{instance="oss1"}': 0},
    ),
    Case(
        "VasProbesUnsigned",
        {'vas_route_key_refused{instance="oss1"}': (0, 1)},
        _of("oss1"),
        {'vas_route_probes_signed{instance="oss1"}': 1},
    ),
    Case(
        "VasProbesForged",
        {'vas_route_probes_refused_total{instance="oss1",reason="signature"}': (0, 20)},
        _of("oss1", reason="signature"),
        {'vas_route_probes_refused_total{instance="oss1",reason="dropped"}': 8},
        counts=True,
    ),
    Case("VasPlanNotOnDisk", {'vas_affinity_plan_current{instance="oss1"}': (1, 0)}, _of("oss1")),
    Case(
        "VasPlacementNotInForce",
        {'vas_affinity_plan_in_force{instance="oss1"}': (1, 0)},
        _of("oss1"),
    ),
    Case("VasPlacementTakenBack", {'vas_affinity_held_off{instance="oss1"}': (0, 1)}, _of("oss1")),
    Case(
        "VasPinLost",
        {'vas_affinity_violations{instance="oss1",kind="interrupt"}': (0, 2)},
        _of("oss1", kind="interrupt"),
        {
            'vas_affinity_violations{instance="oss1",kind="thread"}': 0,
            'vas_affinity_violations{instance="oss1",kind="forbidden"}': 3,
        },
    ),
    Case(
        "VasGuestNotPlanned",
        {'vas_affinity_guest_starts_total{by="rule",instance="oss1"}': (0, 1)},
        _of("oss1", by="rule"),
        {'vas_affinity_guest_starts_total{by="plan",instance="oss1"}': 4},
        counts=True,
    ),
    Case(
        "VasPlacementFails",
        {'vas_affinity_failures_total{instance="oss1",of="valve"}': (0, 1)},
        _of("oss1", of="valve"),
        counts=True,
    ),
    Case(
        "VasApplicationNotPlaced",
        {f"vas_placement_applications_failed_open{_GRANTS}": (0, 1)},
        _of("yarn-rm", context="yarn"),
        counts=True,
    ),
    Case(
        "VasDecisionsNotLogged",
        {f"vas_placement_decisions_not_logged{_GRANTS}": (0, 1)},
        _of("yarn-rm", context="yarn"),
        counts=True,
    ),
    Case(
        "VasMapOutputNotRemoved",
        {'vas_shuffle_failures{instance="vm1"}': (3, 4)},
        _of("vm1"),
        counts=True,
    ),
    Case(
        "VasJanitorFails",
        {'vas_janitor_failed{instance="rm",staging="/scratch/staging"}': (0, 2)},
        _of("rm", staging="/scratch/staging"),
        {'vas_janitor_failed{instance="rm",staging="/other"}': 0},
    ),
    Case(
        "VasMapOutputDamaged",
        {'vas_shuffle_validation_failures{instance="vm1"}': (0, 1)},
        _of("vm1"),
        counts=True,
    ),
)


def promtool(directory: Path, tests: list[dict[str, object]]) -> None:
    """Runs Prometheus' tests of the site's rules. Raises CommandFailed if one of them fails."""
    (directory / "rules.yml").write_text(yaml.safe_dump(rules()))
    text = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": tests}
    file = directory / "tests.yml"
    file.write_text(yaml.safe_dump(text))
    run(["promtool", "test", "rules", file])


def rendered(summary: str, labels: dict[str, str]) -> str:
    """A summary as Prometheus renders it; a label that the alert lacks is a KeyError."""
    return re.sub(r"{{ \$labels\.(\w+) }}", lambda found: labels[found[1]], summary)


def minutes(duration: str) -> int:
    return int(duration.removesuffix("m"))


def expected(case: Case) -> list[dict[str, object]]:
    """When the alert must fire: not before its cause, not before it has lasted, not after it."""
    (alert,) = (alert for alert in ALERTS if alert.name == case.alert)
    link = f"{RUNBOOKS}/runbook.md#{alert.name.lower()}"
    fired = {
        "exp_labels": case.labels | {"severity": alert.severity},
        "exp_annotations": {
            "summary": rendered(alert.summary, case.labels),
            "runbook_url": link,
        },
    }
    at = _BEGINS + minutes(alert.lasting)
    silent = [_BEGINS - 1, at - 1, _BEGINS + _LASTS + 90]
    asked: list[dict[str, object]] = [
        {"eval_time": f"{minute}m", "alertname": alert.name} for minute in silent
    ]
    return [*asked, {"eval_time": f"{at}m", "alertname": alert.name, "exp_alerts": [fired]}]


def grants(local: str, remote: str) -> list[dict[str, str]]:
    """Grants of containers by minute, as YARN's ResourceManager counts them."""
    counted = {"local": local, "partner": "0+0x200", "remote": remote}
    return [
        {"series": f"vas_placement_{where}_grants{_GRANTS}", "values": values}
        for where, values in counted.items()
    ]


def test_every_alert_has_a_case() -> None:
    own = {"VasMapsNotLocal", "VasJanitorLate", "VasJobstatsStalled"}
    assert {case.alert for case in CASES} | own == {alert.name for alert in ALERTS}


def test_the_cases_have_the_labels_of_the_daemons() -> None:
    routes = RouteMetrics()
    routes.observe_path(Leg.SRIOV, "", PathState.UP)
    routes.observe_use("vm1", Leg.SRIOV)
    families = [*routes.registry.collect(), *AffinityMetrics().registry.collect()]
    known = {sample.name: set(sample.labels) for found in families for sample in found.samples}
    for name, labels in (
        re.fullmatch(r"(\w+){(.*)}", series).groups()
        for case in CASES
        for series in case.changing | case.steady
    ):
        if name.startswith(("vas_route_", "vas_affinity_")):
            assert set(re.findall(r"(\w+)=", labels)) == known[name] | {"instance"}, name


@pytest.mark.parametrize("metrics", [RouteMetrics, AffinityMetrics])
def test_a_count_that_an_alert_watches_begins_at_0(
    metrics: type[RouteMetrics] | type[AffinityMetrics],
) -> None:
    """Prometheus sees no increase in a count whose first value is that of its first event."""
    families = list(metrics().registry.collect())
    names = {sample.name for found in families for sample in found.samples}
    watched = {
        name
        for alert in ALERTS
        for name in re.findall(r"increase\((\w+)", alert.expression)
        if any(name.removesuffix("_total") == found.name for found in families)
    }
    assert watched and watched <= names, watched - names


@pytest.mark.machine
@needs_promtool
def test_each_alert_fires_when_it_must_and_ends(tmp_path: Path) -> None:
    made = [
        {"interval": "1m", "input_series": case.series(), "alert_rule_test": expected(case)}
        for case in CASES
    ]
    promtool(tmp_path, made)


@dataclass(frozen=True)
class Clock:
    """A time that a program writes, and how old it must be for an alert. `other` goes on."""

    alert: str
    metric: str
    labels: dict[str, str]
    other: dict[str, str]
    minutes: int


_JANITOR, _STAGING = "vas_janitor_last_end_seconds", {"staging": "/scratch/staging"}
CLOCKS = (
    Clock("VasJanitorLate", _JANITOR, _of("rm", **_STAGING), _of("rm", staging="/other"), 180),
    Clock("VasJobstatsStalled", "vas_jobstats_last_read_seconds", _of("oss1"), _of("oss2"), 10),
)


@pytest.mark.machine
@needs_promtool
@pytest.mark.parametrize(("more", "fires"), [(-5, False), (5, True)])
@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: clock.alert)
def test_a_time_that_stands_still_is_an_alert(
    clock: Clock, more: int, fires: bool, tmp_path: Path
) -> None:
    """The clock is promtool's, which begins at 0; the last time that was written is one hour."""
    (alert,) = (alert for alert in ALERTS if alert.name == clock.alert)
    notes = {
        "summary": rendered(alert.summary, clock.labels),
        "runbook_url": f"{RUNBOOKS}/runbook.md#{alert.name.lower()}",
    }
    fired = {"exp_labels": clock.labels | {"severity": "warning"}, "exp_annotations": notes}
    given = [
        {"series": f"{clock.metric}{{{_words(labels)}}}", "values": values}
        for labels, values in ((clock.labels, "3600+0x400"), (clock.other, "0+60x400"))
    ]
    asked = {
        "eval_time": f"{60 + clock.minutes + more}m",
        "alertname": alert.name,
        "exp_alerts": [fired] if fires else [],
    }
    promtool(tmp_path, [{"interval": "1m", "input_series": given, "alert_rule_test": [asked]}])


def _words(labels: dict[str, str]) -> str:
    return ",".join(f'{name}="{value}"' for name, value in labels.items())


@pytest.mark.machine
@needs_promtool
@pytest.mark.parametrize(
    ("local", "remote", "fires"),
    [
        ("0+7x200", "0+3x200", True),
        ("0+9x200", "0+1x200", False),
        ("0+0x200", "0+5x200", True),
        # Less than one container in a minute and a half says nothing.
        ("0+0x200", "0+0x29 1+0x170", False),
        ("0+0x200", "0+0x200", False),
    ],
)
def test_maps_that_are_not_local_are_an_alert(
    local: str, remote: str, fires: bool, tmp_path: Path
) -> None:
    (alert,) = (alert for alert in ALERTS if alert.name == "VasMapsNotLocal")
    notes = {"summary": alert.summary, "runbook_url": "docs/runbook.md#vasmapsnotlocal"}
    labels = {"severity": "warning", "context": "yarn", "instance": "yarn-rm"}
    fired = [{"exp_labels": labels, "exp_annotations": notes}] if fires else []
    asked = {"eval_time": "45m", "alertname": alert.name, "exp_alerts": fired}
    given = grants(local, remote)
    promtool(tmp_path, [{"interval": "1m", "input_series": given, "alert_rule_test": [asked]}])


def applications_series(name: str) -> list[dict[str, str]]:
    """Series as exporters of Lustre's jobstats name them: one for each job and OST."""
    series = {
        ("app_1_0001", "scratch-OST0000", "oss1"): "0+600x10",
        ("app_1_0001", "scratch-OST0001", "oss2"): "0+1200x10",
        ("app_1_0002", "scratch-OST0000", "oss1"): "0+60x10",
        ("4711", "scratch-OST0000", "oss1"): "0+90000x10",
    }
    return [
        {
            "series": f'{name}{{component="ost",jobid="{job}",target="{ost}",instance="{host}"}}',
            "values": values,
        }
        for (job, ost, host), values in series.items()
    ]


@pytest.mark.machine
@needs_promtool
@pytest.mark.parametrize(
    ("title", "name", "rates"),
    [
        (
            "I/O on the servers by application",
            "lustre_job_read_bytes_total",
            {'{jobid="app_1_0001"}': 30, '{jobid="app_1_0002"}': 1},
        ),
        (
            "Applications that write most to one OST",
            "lustre_job_write_bytes_total",
            {
                '{jobid="app_1_0001",target="scratch-OST0000"}': 10,
                '{jobid="app_1_0001",target="scratch-OST0001"}': 20,
                '{jobid="app_1_0002",target="scratch-OST0000"}': 1,
            },
        ),
    ],
)
def test_panels_of_applications_add_up_what_the_servers_counted(
    title: str, name: str, rates: dict[str, int], tmp_path: Path
) -> None:
    (panel,) = (panel for panel in PANELS if panel.title == title)
    (line,) = (line for line in panel.lines.values() if name in line)
    samples = [{"labels": labels, "value": rate} for labels, rate in rates.items()]
    asked = {"expr": line, "eval_time": "10m", "exp_samples": samples}
    given = applications_series(name)
    promtool(tmp_path, [{"interval": "1m", "input_series": given, "promql_expr_test": [asked]}])
