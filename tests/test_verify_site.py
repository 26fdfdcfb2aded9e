"""`verify.yml` on a site: a lab, each of whose nodes Ansible enters as it would by ssh.

Real are routes and who switches them, iperf3 over the lab's cables, fio, YARN, its jobs and where
their maps ran. A lab has no LNet, and no libvirt to pin: the report has to say so.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from vas_core.polling import poll
from vas_core.process import Completed, run
from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.in_lab import inside
from vas_tests.promptly import promptly

pytestmark = [
    *(pytest.mark.slow, pytest.mark.long, pytest.mark.nightly, pytest.mark.timeout(1800)),
    pytest.mark.skipif(shutil.which("iperf3") is None, reason="no iperf3"),
    pytest.mark.skipif(shutil.which("fio") is None, reason="no fio"),
]

PROGRAMS = Path(sys.executable).parent
ON_FABRIC = ("oss1", "vm1", "oss2", "vm2")


@dataclass(frozen=True)
class Site:
    """A lab with what Ansible has to know of it; `directory` has that, and reports."""

    lab: Lab
    directory: Path

    def prepare(self) -> None:
        """Writes how each node is entered."""
        hosts = {}
        for node in (*ON_FABRIC, "rm"):
            entered = self.directory / f"sh-{node}"
            entered.write_text(f'#!/bin/sh\nexec {shlex.join(self.sh(node))} "$@"\n')
            entered.chmod(0o755)
            local = {"ansible_connection": "local", "ansible_become": False}
            hosts[node] = {**local, "ansible_shell_executable": str(entered)}
        self.own_disk.mkdir()
        text = json.dumps({"all": {"hosts": hosts}})
        (self.directory / "entered.yml").write_text(text)

    def sh(self, node: str) -> list[str]:
        """A shell on a node."""
        return self.lab.enter(["/bin/sh"], node=node)

    @property
    def own_disk(self) -> Path:
        """Stands for a guest's."""
        return self.lab.spec.state_dir / "disk"

    def verify(self, **chosen: object) -> tuple[Completed, dict[str, Any]]:
        """Runs the playbook; what it printed, and its report."""
        settings = {
            "__vas_verify_program": str(PROGRAMS / "vas"),
            "__vas_verify_configuration": str(self.lab.spec.conf),
            "__vas_verify_environment": {},
            "vas_verify_cluster_file": str(self.lab.spec.cluster_file),
            "vas_verify_user": "root",
            "vas_verify_directory": "/verify",
            "vas_verify_disk_directory": str(self.own_disk),
            "vas_verify_disk_size": "16M",
            "vas_verify_packages": False,
            "vas_verify_placement": False,
            "vas_verify_lnet": False,
            # Cables of a lab are alike, and share two cores with all else.
            "vas_verify_network_share": 0.3,
            "vas_verify_report": str(self.directory / "report"),
            **chosen,
        }
        inventories = ("-i", "inventory/vas.yml", "-i", str(self.directory / "entered.yml"))
        argv = [str(PROGRAMS / "ansible-playbook"), "verify.yml", *inventories]
        environment = {
            **os.environ,
            "VAS_CLUSTER": str(self.lab.spec.cluster_file),
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        }
        directory = ["env", "-C", str(REPOSITORY / "ansible")]
        argv = [*directory, *argv, "--extra-vars", json.dumps(settings)]
        done = run(argv, check=False, env=environment)
        report = self.directory / "report" / f"{self.lab.spec.cluster.site}.json"
        assert report.exists(), done.stdout[-8000:] + done.stderr
        return done, json.loads(report.read_text())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A lab whose hosts and guests run the switcher."""
    state = REPOSITORY / "build" / "lab" / "test-verify-site"
    shutil.rmtree(state / "disk", ignore_errors=True)
    with Lab.start(LabOptions(state_dir=state, hosts=2), tied=True) as lab, ExitStack() as running:
        found = Site(lab, tmp_path_factory.mktemp("site"))
        found.prepare()
        route = [sys.executable, "-m", "vas_core", "route"]
        for node in ON_FABRIC:
            daemon = lab.enter([*route, "daemon", "--metrics", "off"], node=node)
            log = running.enter_context((found.directory / f"{node}.log").open("wb"))
            process = subprocess.Popen(promptly(daemon), stdout=log, stderr=log)
            running.callback(process.wait)
            running.callback(process.kill)
        for node in ON_FABRIC:

            def verified(node: str = node) -> int:
                return lab.call([*route, "verify"], node=node, check=False).status

            poll(verified, lambda status: status == 0, 90, f"the routes of {node}")
        yield found


def of(report: dict[str, Any], name: str) -> list[dict[str, str]]:
    return [check for check in report["checks"] if check["name"] == name]


def test_a_site_as_it_is_to_be_is_proved(site: Site) -> None:
    done, report = site.verify()
    assert done.status == 0, done.stdout[-8000:]
    assert report["ok"] and report["counts"]["failed"] == 0
    assert sorted(c["node"] for c in of(report, "routes")) == sorted(ON_FABRIC)
    for name in ("OSTs", "lfs df", "own OSTs", "disk"):
        assert [(c["node"], c["verdict"]) for c in of(report, name)] == [
            ("vm1", "ok"),
            ("vm2", "ok"),
        ], name
    ways = [c["what"].partition(";")[2] for c in of(report, "paths")]
    assert ways == [" goes by virtio", " goes by sriov", " goes by sriov"]
    for name in ("testdfsio-write", "testdfsio-read", "terasort", "locality", "YARN's nodes"):
        assert [c["verdict"] for c in of(report, name)] == ["ok"], name
    assert "4 of 4 maps" in of(report, "locality")[0]["what"]
    assert {c["what"] for c in of(report, "LNet")} == {"vas_verify_lnet is false"}
    page = (site.directory / "report" / "laptop-lab.html").read_text()
    assert "verified" in page and "4 of 4 maps" in page


def test_it_leaves_nothing(site: Site) -> None:
    assert not list(site.own_disk.iterdir())
    assert "verify" not in site.lab.call(["ls", str(inside(site.lab))]).stdout.split() or (
        not site.lab.call(["ls", "-A", str(inside(site.lab, "verify"))]).stdout
    )
    for node in ON_FABRIC:
        listens = site.lab.call(["ss", "-Hltn", "sport", "=", ":5201"], node=node)
        assert not listens.stdout


def test_all_findings_are_told_at_once(site: Site) -> None:
    plan = {
        "name": "verify",
        "workloads": "terasort",
        "systems": "vas",
        "parameters": {"size": "64M", "split": "32M", "reducers": 2},
        "rounds": 1,
        "warm_up": 0,
    }
    done, report = site.verify(
        vas_verify_locality=1.01,
        vas_verify_network=False,
        vas_verify_disk_size="900T",
        __vas_verify_plan=plan,
    )
    assert done.status == 2
    failed = [c for c in report["checks"] if c["verdict"] == "failed"]
    assert sorted(c["name"] for c in failed) == ["disk", "disk", "locality"]
    (locality,) = of(report, "locality")
    assert "101.0% are required: vm1 1 of 1, vm2 1 of 1" in locality["what"]
    assert "vas.placement.node-wait" in locality["fix"]
    assert "vm1: disk: " in done.stdout and "rm: locality: " in done.stdout
    assert [c["what"] for c in of(report, "paths")] == ["vas_verify_network is false"]


def test_a_route_that_differs_is_named(site: Site) -> None:
    """With a map that says otherwise than the one by which the nodes were routed."""
    text = site.lab.spec.cluster_file.read_text()
    moved = site.directory / "moved.yaml"
    vm2 = site.lab.spec.cluster.guest("vm2").address
    # Somewhere else on the fabric: nobody has a neighbour or a route for it.
    moved.write_text(text.replace(vm2, vm2.rpartition(".")[0] + ".99"))
    done, report = site.verify(
        vas_verify_cluster_file=str(moved),
        vas_verify_network=False,
        vas_verify_disk=False,
        vas_verify_jobs=False,
    )
    assert done.status == 2
    failed = [(c["node"], c["name"]) for c in report["checks"] if c["verdict"] == "failed"]
    assert ("oss2", "routes") in failed
    assert "vas route doctor" in next(c["fix"] for c in of(report, "routes") if c["fix"])
