"""The role `monitoring` on hosts in namespaces: metrics at the fabric, applications' I/O.

Debian's node exporter runs on the storage server. There is no Lustre: the lists of two targets'
jobs are files in /proc, with texts made after Lustre's source (`yarn/tests/job_stats`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.polling import poll
from vas_core.repository import REPOSITORY
from vas_tests.hosts import Site, site_of_hosts
from vas_tests.hosts.cycle import made_true, play_role
from vas_tests.hosts.host import EmulatedHost
from vas_tests.hosts.yarn import asked

_LACKS = [p for p in ("mmdebstrap", "ssh", "unshare", "nsenter") if shutil.which(p) is None]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(os.geteuid() != 0, reason="hosts in namespaces need root"),
    pytest.mark.skipif(bool(_LACKS), reason=f"not installed: {', '.join(_LACKS)}"),
]
_DAEMONS = "vas_oss:vas_guests"
_ALL = f"{_DAEMONS}:vas_resourcemanager"
_TEXTFILES = "/var/lib/prometheus/node-exporter"
_JOB_STATS = REPOSITORY / "yarn/tests/job_stats"
_TARGETS = {"obdfilter/scratch-OST0000": "ost-2.16.txt", "mdt/scratch-MDT0000": "mdt-2.16.txt"}
_READ = (
    'lustre_job_read_bytes_total{component="ost",jobid="app_1700000000000_0001",'
    'target="scratch-OST0000"} 5.36870912e+08'
)
Variables = dict[str, object]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site_of_hosts(tmp_path_factory.mktemp("site")) as made:
        named = made.directory / "monitoring.ini"
        named.write_text("[vas_monitoring]\nrm1\n")
        made.inventories.append(named)
        server = made.hosts["oss1"]
        install = ("apt-get", "-q", "-y", "--no-install-recommends", "install")
        server.run(*install, "prometheus-node-exporter")
        _serve_targets(server)
        made.hosts["rm1"].run("install", "-d", _TEXTFILES)
        yield made


def _serve_targets(server: EmulatedHost) -> None:
    """Every instance of procfs has Lustre's lists; a mount is in one, so the unit's gets it too."""
    server.run("mount", "-t", "tmpfs", "tmpfs", "/proc/fs")
    own = "/etc/systemd/system/vas-jobstats.service.d/one-proc.conf"
    same_proc = "[Service]\nBindReadOnlyPaths=/proc/fs\nProtectKernelTunables=no\n"
    server.run("install", "-D", "-m", "0644", "/dev/stdin", own, stdin=same_proc)
    for target, text in _TARGETS.items():
        file = Path("/proc/fs/lustre", target, "job_stats")
        words = ("install", "-D", "-m", "0444", "/dev/stdin", file)
        server.run(*words, stdin=(_JOB_STATS / text).read_text())


def test_metrics_are_there_and_go_again(site: Site, archives: Variables) -> None:
    """Prometheus' machine, which the site names, has its files; daemons answer at the fabric."""
    play_role(site, "program", _ALL, archives)
    play_role(site, "route_switcher", _DAEMONS, archives)
    told = archives | {"vas_monitoring_grafana": "/srv", "vas_monitoring_textfiles": _TEXTFILES}
    # A route daemon that is started again keeps its map again.
    with made_true(site, "monitoring", _ALL, told, leaves=("/var/lib/vas/route",)):
        _daemons_answer_at_the_fabric(site)
        found = site.hosts["rm1"].run("ls", "/etc/prometheus/vas", "/srv").stdout.split()
        assert {"rules.yml", "scrape.yml", "targets.json", "vas.json"} <= set(found)
        _io_by_application_is_published(site)
        _the_janitors_file_is_linked(site)
    assert "lustre_job" not in _exported(site), "old counts are not taken for new ones"


def _daemons_answer_at_the_fabric(site: Site) -> None:
    at = site.cluster.hosts[0].address
    poll(
        lambda: asked(site, f"http://{at}:9213/metrics"),
        lambda text: "vas_route_path_up{" in text,
        60.0,
        "the metrics of oss1's vas-routed, asked by its guest",
    )


def _the_janitors_file_is_linked(site: Site) -> None:
    """Its name is the janitor's unit's; the unit itself is the role hadoop's, which is not here."""
    manager = site.hosts["rm1"]
    staging = f"{site.cluster.lustre.mount}/yarn/staging"
    name = manager.run("systemd-escape", "--path", staging).stdout.strip()
    found = manager.run("readlink", f"{_TEXTFILES}/{name}.prom").stdout.strip()
    assert found == f"/run/vas-janitor/{name}.prom"


def _io_by_application_is_published(site: Site) -> None:
    server = site.hosts["oss1"]
    text = poll(lambda: _exported(site), lambda text: _READ in text, 60.0, "applications' I/O")
    assert "node_textfile_scrape_error 0" in text
    assert 'component="mdt"' in text
    user = server.run("systemctl", "show", "-P", "User", "vas-jobstats").stdout.strip()
    process = server.run("systemctl", "show", "-P", "MainPID", "vas-jobstats").stdout.strip()
    status = server.run("cat", f"/proc/{process}/status").stdout
    assert user != "root"
    assert "CapEff:\t0000000000000000" in status, "it reads with no rights of root"
    assert "scratch-OST0000" in server.run("vas", "job", "io").stdout


def _exported(site: Site) -> str:
    at = site.cluster.hosts[0].address
    return asked(site, f"http://{at}:9100/metrics")
