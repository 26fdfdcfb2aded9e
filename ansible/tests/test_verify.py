"""What was seen on a site, judged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vas_ansible.verify import Check, CheckStatus, VerifyLimits, as_html, as_json, examine, lines
from vas_cluster import parse_cluster
from vas_lab.sites import lab_site_yaml

SITE = parse_cluster(lab_site_yaml(2), "site")
OSTS = "OBDS:\n0: lab-OST0000_UUID ACTIVE\n1: lab-OST0001_UUID {second}\n"
# The manual's `lfs df`, with one OST out of service.
SPACE = """UUID                   1K-blocks        Used   Available Use% Mounted on
lab-MDT0000_UUID         1048576        4096     1044480   1% /run/lustre[MDT:0]
lab-OST0000_UUID        94181368     1051584    93129784   2% /run/lustre[OST:0]
OST0001             : inactive device

filesystem_summary:     94181368     1051584    93129784   2% /run/lustre
"""


def looked(*each: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    results = [{"item": {"check": name, "reason": "it is off"}, **said} for name, said in each]
    return {"__vas_verify_looked": {"results": results}}


def said(stdout: object = "", rc: int = 0, stderr: str = "") -> dict[str, Any]:
    text = stdout if isinstance(stdout, str) else json.dumps(stdout)
    return {"rc": rc, "stdout": text, "stderr": stderr}


def found(node: str, registered: dict[str, Any], **asked: Any) -> list[Check]:
    seen = {"__vas_verify_looked": {"results": []}, **registered}
    return examine(SITE, {node: seen}, VerifyLimits(**asked))


def one(node: str, registered: dict[str, Any], **asked: Any) -> Check:
    (check,) = found(node, registered, **asked)
    return check


def test_an_ost_that_is_not_active_is_named_with_its_server() -> None:
    check = one("vm1", looked(("OSTs", said(OSTS.format(second="INACTIVE")))))
    assert (check.verdict, check.what) == (CheckStatus.FAILED, "OST0001 of oss2 are not active")
    assert (
        one("vm1", looked(("OSTs", said(OSTS.format(second="ACTIVE"))))).verdict is CheckStatus.OK
    )


@pytest.mark.parametrize(
    ("guest", "verdict"), [("vm1", CheckStatus.OK), ("vm2", CheckStatus.FAILED)]
)
def test_a_guest_has_to_see_the_osts_of_its_own_server(guest: str, verdict: CheckStatus) -> None:
    check = one(guest, looked(("own OSTs", said(SPACE))))
    assert check.verdict is verdict
    if verdict is CheckStatus.FAILED:
        assert check.line() == (
            "vm2: own OSTs: OST0001 of its own server oss2 cannot be seen;"
            " see `lctl ping 10.77.0.12@tcp` on vm2"
        )


def test_all_findings_of_all_nodes_are_there_at_once() -> None:
    wrong = looked(("routes", said(rc=3, stderr="vas: the kernel differs")), ("LNet", said(rc=1)))
    checks = examine(
        SITE, {"vm1": wrong, "oss1": wrong}, VerifyLimits(left={"disk": "nobody asked"})
    )
    assert [check.line() for check in checks if check.name == "routes"] == [
        "vm1: routes: the kernel differs; see `vas route doctor` there",
        "oss1: routes: the kernel differs; see `vas route doctor` there",
    ]
    assert len(lines(checks, CheckStatus.FAILED)) == 4
    assert lines(checks, CheckStatus.NOT_RUN) == ["site: disk: nobody asked"]


def test_a_machine_out_of_reach_is_a_finding() -> None:
    for registered in ({}, {"__vas_verify_looked": {"unreachable": True}}):
        (check,) = examine(SITE, {"vm1": registered}, VerifyLimits())
        assert check.verdict is CheckStatus.FAILED and "could not be reached" in check.what


def test_what_is_switched_off_or_lacks_a_program_was_not_run() -> None:
    check = one("vm1", looked(("LNet", {"skipped": True})))
    assert (check.verdict, check.what) == (CheckStatus.NOT_RUN, "it is off")
    lacks = said(rc=77, stderr="vas: neither iozone nor fio is on PATH")
    assert one("vm1", {"__vas_verify_disk": lacks}).verdict is CheckStatus.NOT_RUN
    assert one("vm1", {"__vas_verify_paths": said(rc=77)}).verdict is CheckStatus.NOT_RUN


def test_a_program_that_is_not_there_is_named() -> None:
    gone = {"rc": 2, "msg": "Error executing command.", "cmd": "lctl ping 10.0.0.1@tcp"}
    check = one("vm1", looked(("LNet", gone)))
    assert (check.verdict, check.what) == (CheckStatus.FAILED, "lctl cannot be run there")


def measured(path: str) -> dict[str, Any]:
    rows = [
        {"case": "VM to own host", "destination": "oss1", "interface": leg, "gbps": gbps}
        for leg, gbps in (("virtio", 8.0), ("sriov", 4.0))
    ]
    choice = {"destination": "oss1", "path": path}
    # Status 3: by its own measure it takes the slower one.
    return {"__vas_verify_paths": said({"cases": rows, "choices": [choice]}, rc=3)}


def test_the_path_that_is_taken_may_not_be_much_slower() -> None:
    assert one("vm1", measured("virtio")).verdict is CheckStatus.OK
    slow = one("vm1", measured("sriov"))
    assert slow.verdict is CheckStatus.FAILED
    assert "goes by sriov, 0.50 of the faster one, 0.8 are required" in slow.what
    assert one("vm1", measured("sriov"), path_share=0.5).verdict is CheckStatus.OK


def test_paths_that_were_not_measured_are_a_finding() -> None:
    silent = said(rc=1, stderr="vas: oss1: nothing was received by virtio; ask both")
    assert one("vm1", {"__vas_verify_paths": silent}).what.startswith("oss1: nothing was received")


def ran(here: int, away: int, invalid: str | None = None) -> dict[str, Any]:
    def host(near: int, far: int) -> dict[str, int]:
        return {"data_local_maps": near, "rack_local_maps": far, "other_maps": 0}

    run = {"workload": "terasort", "job_seconds": 20.0, "invalid": invalid}
    made = [{**run, "hosts": {"oss1": host(4, 0), "oss2": host(here, away)}}]
    return {"__vas_verify_jobs": said({"made": made}, rc=1 if invalid else 0)}


def test_too_few_local_maps_name_their_hosts_and_the_fix() -> None:
    job, locality = found("rm", ran(3, 1))
    assert (job.verdict, locality.verdict) == (CheckStatus.OK, CheckStatus.FAILED)
    assert "7 of 8 maps read from their own server (87.5%)" in locality.what
    assert locality.what.endswith("98.0% are required: oss2 3 of 4")
    assert "vas.placement.node-wait" in locality.fix
    assert found("rm", ran(4, 0))[1].verdict is CheckStatus.OK


def test_a_bound_that_nothing_can_reach_names_every_host() -> None:
    assert found("rm", ran(4, 0), locality=1.01)[1].what.endswith("oss1 4 of 4, oss2 4 of 4")


def test_a_job_that_failed_says_why() -> None:
    job = found("rm", ran(4, 0, "it failed: no memory"))[0]
    assert (job.name, job.verdict, job.what) == (
        "terasort",
        CheckStatus.FAILED,
        "it failed: no memory",
    )
    nothing = one("rm", {"__vas_verify_jobs": said(rc=1, stderr="vas: YARN has no running node")})
    assert (nothing.name, nothing.verdict) == ("jobs", CheckStatus.FAILED)


def test_jobs_without_a_history_prove_no_locality() -> None:
    run = {"workload": "terasort", "job_seconds": 20.0, "invalid": None, "hosts": {}}
    checks = found("rm", {"__vas_verify_jobs": said({"made": [run]})})
    assert [(c.name, c.verdict) for c in checks][-1] == ("locality", CheckStatus.FAILED)


def test_a_guest_that_is_no_node_of_yarn_is_named_but_not_one_that_was_evacuated() -> None:
    nodes = {"json": {"nodes": {"node": [{"nodeHostName": "vm1"}]}}}
    empty: dict[str, Any] = {"__vas_verify_looked": {"results": []}}
    seen = {"vm1": empty, "rm": {**empty, "__vas_verify_nodes": nodes}}
    assert examine(SITE, seen, VerifyLimits())[0].verdict is CheckStatus.OK
    (check,) = examine(SITE, {**seen, "vm2": empty}, VerifyLimits())
    assert (check.verdict, check.what) == (CheckStatus.FAILED, "vm2 are not running nodes")
    silent = {"__vas_verify_nodes": {"json": None, "msg": "refused", "status": -1}}
    assert "does not answer: refused" in one("rm", silent).what


def test_the_report_says_all_of_it() -> None:
    checks = [*found("rm", ran(3, 1)), Check("vm1", "disk", CheckStatus.NOT_RUN, "<none>")]
    report = json.loads(as_json("lab", "2026-01-01T00:00:00+00:00", checks))
    assert report["counts"] == {"ok": 1, "failed": 1, "not run": 1}
    assert not report["ok"] and len(report["checks"]) == 3
    page = as_html("lab", "2026-01-01T00:00:00+00:00", checks)
    assert "checks failed" in page and "&lt;none&gt;" in page
    assert page.index("locality") < page.index("terasort<td")


def test_H3_a_job_that_the_history_has_not_is_a_finding() -> None:
    """Its user's directory was closed to the JobHistoryServer, and nobody noticed."""
    job = {"id": "job_1_1", "user": "ann", "state": "SUCCEEDED"}
    for listed in ([job], job):  # Hadoop's JSON has one job without a list
        has = one("rm", {"__vas_verify_history": {"json": {"jobs": {"job": listed}}}})
        assert (has.verdict, has.what) == (CheckStatus.OK, "1 jobs of ann that ended well")
    for registered in ({"json": {"jobs": None}}, {"msg": "refused"}):
        check = one("rm", {"__vas_verify_history": registered})
        assert check.verdict is CheckStatus.FAILED
        assert "done_intermediate must be 3777 mapred:hadoop" in check.fix
    assert found("rm", {"__vas_verify_history": {"skipped": True}}) == []


def test_D1_a_guest_that_was_reset_is_named_with_its_jobs() -> None:
    """It has noted the stop itself; what ended long before, or after it, is not suspect."""
    notes = "2026-11-24T10:00:00Z 2026-11-24T10:02:00Z\n"
    ends = {"long": 1795511000000, "shortly": 1795514300000, "after": 1795514600000, "runs": 0}
    jobs = [
        {"id": f"application_1_{n}", "name": name, "user": "ann", "finishedTime": end}
        for n, (name, end) in enumerate(ends.items())
    ]
    manager = {
        "__vas_verify_looked": {"results": []},
        "__vas_verify_applications": {"json": {"apps": {"app": jobs}}},
    }
    (check,) = examine(
        SITE, {"vm1": looked(("unclean stop", said(notes))), "rm": manager}, VerifyLimits()
    )
    assert check.verdict is CheckStatus.FAILED
    assert "after 2026-11-24T10:00:00Z, started again at 2026-11-24T10:02:00Z" in check.what
    assert "(shortly)" in check.what and "(runs)" in check.what
    assert "(long)" not in check.what and "(after)" not in check.what
    assert "rm /var/lib/vas/unclean-stops" in check.fix


@pytest.mark.parametrize(
    "line",
    [
        "yesterday today",
        "2026-11-24T10:00:00Z",
        "0001-01-01T00:00:00Z 2026-11-24T10:02:00Z",
        "2026-11-24 2026-11-24T10:02:00Z",
        "2026-99-24T10:00:00Z 2026-11-24T10:02:00Z",
        "\x1b[2J 2026-11-24T10:02:00Z",
    ],
)
def test_D1_notes_that_are_no_times_fail_for_their_guest_alone(line: str) -> None:
    """The guest's root writes them; the stop noted beside them is still named."""
    good = "2026-11-24T10:00:00Z 2026-11-24T10:02:00Z"
    seen = {
        "vm1": looked(("unclean stop", said(f"{line}\n{good}\n"))),
        "vm2": looked(("unclean stop", said(""))),
    }
    bad, stop, other = examine(SITE, seen, VerifyLimits())
    assert (
        bad.node == "vm1"
        and bad.verdict is CheckStatus.FAILED
        and "in the guest's notes" in bad.what
    )
    assert bad.what.isprintable()
    assert stop.verdict is CheckStatus.FAILED and "stopped without a sync" in stop.what
    assert other.verdict is CheckStatus.OK


def test_D1_a_guest_without_such_a_stop_is_well() -> None:
    assert one("vm1", looked(("unclean stop", said("")))).verdict is CheckStatus.OK
    unknown = one(
        "vm1", looked(("unclean stop", said("2026-11-24T10:00:00Z 2026-11-24T10:02:00Z")))
    )
    assert "the ResourceManager does not answer" in unknown.what
