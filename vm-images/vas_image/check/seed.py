"""Makes the seed of a check: a guest's, with the examiner and a NodeManager's configuration."""

from __future__ import annotations

from pathlib import Path

from vas_cluster import Cluster, Guest, parse_cluster
from vas_cluster.hadoop import configuration_xml, hadoop_properties
from vas_guest.seed import SeedAdditions, seed_files
from vas_guest.settings import Accelerator, GuestSettings

_SITE = Path(__file__).with_name("site.yaml")
_EXAMINER = Path(__file__).with_name("examiner.py")
_UNIT = """\
[Unit]
Description=The image check's examiner
[Service]
# Not oneshot: the system is not up as long as a job of its start is waited for.
Type=exec
ExecStart=/usr/bin/python3 -I /run/vas-check.py
"""
_STATE = Path("/var/lib/yarn")


def site() -> tuple[Cluster, Guest]:
    """Returns the map of the check, and its one guest."""
    cluster = parse_cluster(_SITE.read_text(), _SITE)
    return cluster, cluster.guests()[0]


def check_seed(*, kvm: bool) -> dict[str, str]:
    """Returns the seed's files: name -> text. `kvm`: the processor is not emulated."""
    cluster, guest = site()
    more = SeedAdditions(
        files={
            "/run/vas-check.py": _EXAMINER.read_text(),
            "/run/systemd/system/vas-check.service": _UNIT,
            "/etc/vas/hadoop/yarn-site.xml": configuration_xml(_properties(cluster)),
        },
        commands=(("systemctl", "daemon-reload"), ("systemctl", "start", "vas-check")),
    )
    settings = GuestSettings(accelerator=Accelerator.KVM if kvm else Accelerator.TCG)
    return seed_files(cluster, _SITE.read_text(), guest, settings, more)


def _properties(cluster: Cluster) -> dict[str, str]:
    """Returns the properties that the map implies, and this NodeManager's directories."""
    return hadoop_properties(cluster, Path("/etc/vas/cluster.yaml")) | {
        "hadoop.tmp.dir": str(_STATE / "tmp"),
        "yarn.nodemanager.local-dirs": str(_STATE / "local"),
        "yarn.nodemanager.log-dirs": "/var/log/yarn/containers",
        "yarn.nodemanager.resource.memory-mb": "1024",
        "yarn.nodemanager.vmem-check-enabled": "false",
    }
