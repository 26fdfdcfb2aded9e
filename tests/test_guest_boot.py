"""A guest of the project's image under a real libvirt: from the map to a login by SSH."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from vas_cluster import load_cluster
from vas_cluster.virtio import guest_interface
from vas_core.cli import run_command
from vas_core.polling import poll
from vas_core.process import Completed, run
from vas_image.image import DISK, INITRD, KERNEL, read_image
from vas_tests import libvirt

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(3600),
]
EXAMPLE = Path(__file__).parents[1] / "cluster/examples/laptop-lab.yaml"
GUEST = "vm1"
BOOT_SECONDS = 900.0
END_SECONDS = 300.0


@dataclass(frozen=True)
class Site:
    """A storage server with one guest that is emulated, and has no virtual function."""

    directory: Path
    daemon: libvirt.Libvirt
    image: Path

    def vas(self, command: str, *more: str) -> int:
        files = ("--cluster", str(self.map), "--settings", str(self.directory / "guest.yaml"))
        words = ["guest", command, GUEST, *files, "--connect", self.daemon.uri, *more]
        return run_command(words)

    @property
    def map(self) -> Path:
        return self.directory / "cluster.yaml"

    @property
    def disk(self) -> Path:
        return self.directory / "vm1.qcow2"

    def write(self) -> None:
        value = yaml.safe_load(EXAMPLE.read_text())
        guest = value["hosts"][0]["guests"][0]
        guest |= {"memory": "1536MiB", "disks": [{"path": str(self.disk), "size": "6GiB"}]}
        self.map.write_text(yaml.safe_dump(value))
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.directory / "key"])
        image = read_image(self.image)
        settings = {
            "accelerator": "qemu",
            "virtual_function": False,
            "kernel": str(self.image / KERNEL),
            "initrd": str(self.image / INITRD),
            "kernel_command_line": f"root={image.root} {image.kernel_command_line}",
            "seeds": str(self.directory / "seed"),
            "consoles": str(self.directory),
            "authorized_keys": [(self.directory / "key.pub").read_text().strip()],
        }
        (self.directory / "guest.yaml").write_text(yaml.safe_dump(settings))

    def ssh(self, command: str) -> Completed:
        """As the administrator, from the storage server, over the host-only leg."""
        host = load_cluster(self.map).hosts[0]
        address = guest_interface(host, host.guests[0]).ip
        asked = ("BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")
        options = [word for option in asked for word in ("-o", option)]
        key = ("-i", str(self.directory / "key"), "-o", "ConnectTimeout=10")
        argv = ("ssh", "-q", *options, *key, f"vas@{address}", command)
        return self.daemon.inside(*argv, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, guest_image: Path) -> Iterator[Site]:
    lacking = libvirt.missing()
    assert not lacking, lacking
    directory = tmp_path_factory.mktemp("site")
    with libvirt.running(tmp_path_factory.mktemp("libvirt")) as daemon:
        found = Site(directory, daemon, guest_image)
        found.write()
        yield found


def test_a_guest_boots_from_the_image_and_lets_its_administrator_in(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    image = ("--image", str(site.image / DISK))
    assert site.vas("apply", *image, "--start", "--wait", str(BOOT_SECONDS)) == 0
    done = poll(
        lambda: site.ssh("sudo cloud-init status --wait --format json"),
        lambda seen: seen.status != 255,
        BOOT_SECONDS,
        "a login",
    )
    assert json.loads(done.stdout)["status"] == "done"
    assert site.ssh("hostname").stdout.strip() == GUEST
    assert site.ssh("cat /etc/vas/cluster.yaml").stdout == site.map.read_text()
    # Grown to its disk, and with no unit that failed.
    assert int(site.ssh("findmnt -bno SIZE /").stdout) > 5 << 30
    assert site.ssh("systemctl is-system-running --wait").stdout.strip() == "running"
    assert site.vas("verify") == 0


def test_it_shuts_down_when_it_is_told_to(site: Site) -> None:
    site.daemon.virsh("shutdown", GUEST)
    poll(
        lambda: site.daemon.virsh("domstate", GUEST).strip(),
        lambda state: state == "shut off",
        END_SECONDS,
        f"{GUEST} to shut down",
    )
    assert site.vas("remove") == 0
    assert site.disk.exists()
