"""Calibration, pure: what is run, what iperf3 says, what follows from it.

iperf3/*.json were printed by iperf 3.12 (Debian 12) in `vas lab net --shaped`: from vm1 to oss1 by
its VF with --reverse, and to a node without a server.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from warnings import catch_warnings

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from site_map import site

from vas_core.errors import BadInput, VasError
from vas_core.process import Completed
from vas_routing.calibrate import iperf, table
from vas_routing.calibrate.cases import rounds, six_cases
from vas_routing.calibrate.command import calibrate
from vas_routing.calibrate.in_lab import InLab
from vas_routing.calibrate.measure import share_of
from vas_routing.calibrate.paper import TABLE_4_1_GBPS
from vas_routing.calibrate.result import (
    CalibrationVerdict,
    Measured,
    ThroughputSample,
    chosen,
    measured,
    verdicts,
)
from vas_routing.calibrate.steering import RouteCommands, leg_of
from vas_routing.links import Leg, NodeLinks

IPERF3 = Path(__file__).parent / "iperf3"
CASES = six_cases(site(), "vm1")


def completed(name: str) -> Completed:
    return Completed(("iperf3",), 0, (IPERF3 / name).read_text(), "")


def found(
    virtio: list[float], sriov: list[float], path: Leg, number: int = 0
) -> CalibrationVerdict:
    """The verdict of a destination (0 the own host) from speeds that are equal both ways."""
    cases = [case for case in CASES if case.destination == ("oss1", "oss2", "vm2")[number]]
    samples = {
        case: [
            ThroughputSample(gbps, gbps) for gbps in (virtio if case.leg is Leg.VIRTIO else sriov)
        ]
        for case in cases
    }
    (verdict,) = verdicts(measured(samples), {cases[0].destination: path})
    return verdict


@pytest.mark.parametrize("leg", list(Leg))
@pytest.mark.parametrize("node", ["vm1", "oss1"])
def test_forced_links_are_written_and_read_without_a_warning(
    tmp_path: Path, leg: Leg, node: str
) -> None:
    paths = NodeLinks.model_validate(
        {"sriov": "up", "virtio": {"oss1": "up"}, "fabric": "10.77.0.0/24"}
    )
    commands = RouteCommands(tmp_path, tmp_path, tmp_path)
    lab = InLab(site(), "vm1", site().hosts[0], {}, {node: paths}, "", tmp_path, commands)
    forced = lab._forced(node, leg)
    with catch_warnings(action="error"):
        assert NodeLinks.model_validate_json(forced.model_dump_json()) == forced


def test_the_cases_are_those_of_the_table() -> None:
    assert [(case.name, case.destination, case.leg) for case in CASES] == [
        ("VM to own host", "oss1", "virtio"),
        ("VM to own host", "oss1", "sriov"),
        ("VM to other host", "oss2", "virtio"),
        ("VM to other host", "oss2", "sriov"),
        ("VM to other host's VM", "vm2", "virtio"),
        ("VM to other host's VM", "vm2", "sriov"),
    ]
    assert six_cases(site(), "vm3")[2].destination == "oss1", "after the last host, the first"


def test_a_host_measures_nothing() -> None:
    with pytest.raises(BadInput, match="is not a guest"):
        six_cases(site(), "oss1")


@given(st.integers(1, 9))
def test_every_run_has_every_case_and_the_legs_alternate(runs: int) -> None:
    made = list(rounds(CASES, runs))
    assert len({each.name for each in made}) == len(made) == 2 * runs
    for number in range(1, runs + 1):
        mine = [case for each in made if each.number == number for case in each.cases]
        assert sorted(mine, key=CASES.index) == CASES
    switches = [a.leg is not b.leg for a, b in pairwise(made)]
    assert sum(switches) == runs, "one within each run, none between two"


def test_what_was_received_counts() -> None:
    assert iperf.received_gbps(completed("back.json"), "oss1") == pytest.approx(0.668, abs=0.001)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ((IPERF3 / "refused.json").read_text(), "Connection refused"),
        ("", "no such option"),
        ("{}", "does not have the received bytes"),
        ('{"end": []}', "does not have the received bytes"),
    ],
)
def test_what_went_wrong_is_told_with_the_fix(output: str, said: str) -> None:
    with pytest.raises(VasError, match=said) as wrong:
        iperf.received_gbps(Completed(("iperf3",), 1, output, "usage\nno such option\n"), "oss1")
    assert wrong.value.where == "oss1"
    assert wrong.value.hint == "is `vas route calibrate --serve` running on oss1?"


def test_a_stream_that_stood_still_is_no_error_of_iperf3() -> None:
    output = '{"end": {"sum_received": {"bits_per_second": 0}}}'
    assert iperf.received_gbps(Completed(("iperf3",), 0, output, ""), "oss1") == 0


def test_the_median_of_both_directions_and_half_the_range() -> None:
    row = Measured(
        CASES[0],
        (ThroughputSample(1.0, 2.0), ThroughputSample(4.0, 4.0), ThroughputSample(2.0, 2.0)),
    )
    assert (row.gbps, row.spread) == (2.0, 1.25)
    assert row.as_json() == {
        "case": "VM to own host",
        "source": "vm1",
        "destination": "oss1",
        "interface": "virtio",
        "gbps": 2.0,
        "spread": 1.25,
        "there_gbps": 2.0,
        "back_gbps": 2.0,
        "runs": 3,
        "paper_gbps": 15.2,
    }


@pytest.mark.parametrize(
    ("virtio", "sriov", "path", "faster", "ok"),
    [
        ([15.2], [7.1], Leg.VIRTIO, Leg.VIRTIO, True),
        ([15.2], [7.1], Leg.SRIOV, Leg.VIRTIO, False),
        ([5.0], [7.1], Leg.VIRTIO, Leg.SRIOV, False),
        ([5.0, 6.0, 7.0], [7.0, 7.5, 8.0], Leg.VIRTIO, None, True),
        ([5.0, 6.0, 7.0], [7.6, 7.7, 7.8], Leg.VIRTIO, Leg.SRIOV, False),
    ],
)
def test_a_difference_within_the_spread_is_none(
    virtio: list[float], sriov: list[float], path: Leg, faster: Leg | None, ok: bool
) -> None:
    verdict = found(virtio, sriov, path)
    assert (verdict.faster, verdict.ok) == (faster, ok)
    assert verdict.as_json()["faster"] == (faster or "equal")


def test_the_papers_own_figures_agree_with_the_policy() -> None:
    rows = [
        Measured(case, (ThroughputSample(*2 * [TABLE_4_1_GBPS[case.kind, case.leg]]),))
        for case in CASES
    ]
    paths = {"oss1": Leg.VIRTIO, "oss2": Leg.SRIOV, "vm2": Leg.SRIOV}
    judged = verdicts(rows, paths)
    assert all(verdict.ok for verdict in judged)
    assert all(verdict.ratio == verdict.paper_ratio for verdict in judged)
    assert [round(verdict.ratio, 2) for verdict in judged] == [2.14, 0.7, 0.78]


def test_the_policy_reads_what_was_found_of_the_own_host() -> None:
    pair, other = frozenset(("vm1", "oss1")), frozenset(("vm2", "oss2"))
    known = {other: Leg.VIRTIO, pair: Leg.VIRTIO}
    slower_elsewhere = found([9.0], [1.0], Leg.SRIOV, 1)
    by_vf = found([5.0], [7.1], Leg.VIRTIO)
    assert chosen(known, [by_vf, slower_elsewhere]) == {other: Leg.VIRTIO, pair: Leg.SRIOV}
    equal = found([5.0], [5.0], Leg.VIRTIO)
    assert chosen(known, [equal]) == {other: Leg.VIRTIO}


def test_the_table_has_the_papers_figures_beside() -> None:
    rows = list(table.rows([found([1.4], [0.7], Leg.VIRTIO)]))
    who, fast, slow = ("VM to own host", "vm1", "oss1"), ["1.400"] * 2, ["0.700"] * 2
    assert rows == [
        (*who, "virtio", fast[0], "0.000", *fast, "2.00", 15.2, "2.14"),
        (*who, "SR-IOV", slow[0], "0.000", *slow, "", 7.1, ""),
    ]
    assert all(len(row) == len(table.COLUMNS) for row in rows)
    assert table.sentence(found([1.4], [0.7], Leg.SRIOV)) == (
        "oss1 (own host): takes SR-IOV; WRONG: virtio is faster"
    )


@pytest.mark.parametrize(
    ("path", "device", "kernel", "leg"),
    [
        ("virtio", "virtio0", "virtio0", Leg.VIRTIO),
        ("virtio", "virtio0", "vf0", Leg.SRIOV),
        ("sriov", "vf0", "virtio0", Leg.VIRTIO),
        ("sriov", "vf0", None, None),
        (None, None, "vf0", None),
    ],
)
def test_the_leg_of_an_explanation(
    path: str | None, device: str | None, kernel: str | None, leg: Leg | None
) -> None:
    answer = {"device": kernel} if kernel else None
    assert leg_of({"path": path, "device": device, "kernel": answer}) is leg


def dry(tmp_path: Path, *options: str) -> list[str]:
    """What a dry run says it would run on a site."""
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(json.dumps(site().model_dump(mode="json", exclude_none=True)))
    words = ["--dry-run", "--cluster", str(cluster), *options]
    done = CliRunner().invoke(calibrate, words, catch_exceptions=False, standalone_mode=False)
    assert done.return_value == 0
    return done.stdout.splitlines()


@pytest.fixture
def with_iperf3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")


@pytest.mark.usefixtures("with_iperf3")
def test_a_dry_run_on_a_site_names_every_command(tmp_path: Path) -> None:
    lines = dry(tmp_path, "--node", "vm1", "--runs", "1", "--seconds", "7")
    drains = [
        line.split(" route drain ")[1].split(" --cluster")[0] for line in lines if "drain" in line
    ]
    assert drains == [
        *("sriov --undo", "virtio"),
        *("virtio --undo", "sriov"),
        *("virtio --undo", "sriov --undo"),
    ]  # fmt: skip
    clients = [line for line in lines if line.startswith("iperf3 ")]
    assert len(clients) == 12
    assert clients[0] == ("iperf3 --json --client 10.77.0.11 --omit 1 --time 7 --interval 0")
    assert clients[1] == clients[0] + " --reverse"


@pytest.mark.usefixtures("with_iperf3")
def test_the_other_end_listens_on_its_service_address_alone(tmp_path: Path) -> None:
    assert dry(tmp_path, "--serve", "--node", "vm2") == ["iperf3 --server --bind 10.77.0.22"]


def test_the_share_of_a_leg() -> None:
    before = {Leg.VIRTIO: 1000, Leg.SRIOV: 500}
    assert share_of(Leg.VIRTIO, before, {Leg.VIRTIO: 1900, Leg.SRIOV: 600}) == 0.9
    assert share_of(Leg.SRIOV, before, {Leg.VIRTIO: 1900, Leg.SRIOV: 600}) == 0.1
    assert share_of(Leg.SRIOV, before, before) == 0
