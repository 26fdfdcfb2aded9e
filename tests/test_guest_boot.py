"""A guest of the project's image, from the map to a job: libvirt, cloud-init, sshd, YARN."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.polling import poll
from vas_image.image import DISK
from vas_tests import libvirt
from vas_tests.guest_site import HISTORY, GuestSite, running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(3600),
]
BOOT_SECONDS = 900.0
JOIN_SECONDS = 600.0
END_SECONDS = 300.0
NO_LOGIN = 255
USER_DATA = "/var/lib/cloud/instance/user-data.txt"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, guest_image: Path) -> Iterator[GuestSite]:
    lacking = libvirt.missing()
    assert not lacking, lacking
    with running(tmp_path_factory.mktemp("site"), guest_image) as found:
        yield found


def test_it_boots_from_the_image_and_lets_its_administrator_in(site: GuestSite) -> None:
    image = ("--image", str(site.image / DISK))
    assert site.vas("apply", *image, "--start", "--wait", str(BOOT_SECONDS)) == 0
    done = poll(
        lambda: site.ssh("sudo cloud-init status --wait --format json"),
        lambda seen: seen.status != NO_LOGIN,
        BOOT_SECONDS,
        "a login",
    )
    assert json.loads(done.stdout)["status"] == "done"
    assert site.ssh(f"sudo cloud-init schema --config-file {USER_DATA}").status == 0
    assert site.ssh("hostname").stdout.strip() == site.guest.name
    assert site.ssh("cat /etc/vas/cluster.yaml").stdout == site.map.read_text()
    # Grown to its disk, and with no unit that failed.
    assert int(site.ssh("findmnt -bno SIZE /").stdout) > 5 << 30
    assert site.ssh("systemctl is-system-running --wait").stdout.strip() == "running"
    assert site.vas("verify") == 0


def test_its_node_manager_joins_yarn_and_runs_a_job(site: GuestSite) -> None:
    with site.resource_manager():
        site.install_hadoop_configuration()
        assert site.ssh("sudo systemctl start vas-nodemanager").status == 0
        nodes = poll(
            lambda: site.ask_yarn("nodes?states=RUNNING"),
            lambda seen: bool(seen and seen["nodes"]),
            JOIN_SECONDS,
            "the NodeManager to join",
        )
        assert [node["nodeHostName"] for node in nodes["nodes"]["node"]] == [site.guest.name]
        # What the client says is shown only: there is no history server, and an emulated client
        # may come back to the ApplicationMaster when that has gone.
        done = site.run_job("pi", "1", "10")
        (app,) = site.ask_yarn("apps")["apps"]["app"]
        assert app["finalStatus"] == "SUCCEEDED", done.stdout
        maps_and_reduces = "-1-1-SUCCEEDED-default-"
        assert maps_and_reduces in site.ssh(f"sudo ls {HISTORY}").stdout, done.stdout


def test_it_shuts_down_when_it_is_told_to(site: GuestSite) -> None:
    site.daemon.virsh("shutdown", site.guest.name)
    poll(
        lambda: site.daemon.virsh("domstate", site.guest.name).strip(),
        lambda state: state == "shut off",
        END_SECONDS,
        f"{site.guest.name} to shut down",
    )
    assert site.vas("remove") == 0
    assert (site.directory / "vm1.qcow2").exists()
