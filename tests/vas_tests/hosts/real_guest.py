"""A guest of the project's image on a site's storage server: what it needs besides `site.yml`.

The server's leg is a bridge, in place of virtual functions; a tmpfs in the guest stands for Lustre.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from vas_core.polling import poll
from vas_core.process import Completed
from vas_tests import emulated
from vas_tests.hosts.host import EmulatedHost
from vas_tests.hosts.site import MAP, Site

GUEST = "vm1"
_BOOT_SECONDS = 2400
_SCRATCH = """
set -eu
mountpoint -q /scratch && exit
mkdir -p /scratch
mount -t tmpfs -o mode=1777 tmpfs /scratch
"""
Variables = dict[str, object]


def map_with_room(file: Path) -> Path:
    """Writes the hosts' map to `file`, with a guest that has room for an operating system.

    Returns `file`.
    """
    value = yaml.safe_load(MAP.read_text())
    guest = value["hosts"][0]["guests"][0]
    guest["memory"] = "3GiB"
    guest["disks"][0]["size"] = "6GiB"
    file.write_text(yaml.safe_dump(value))
    return file


def bridge_leg(site: Site, server: EmulatedHost) -> None:
    """Puts the server's interface on the data fabric into a bridge that takes over its name."""
    (host,) = site.cluster.hosts
    leg = host.nics.pf
    for words in (
        ("link", "set", leg, "down"),
        ("address", "flush", "dev", leg),
        ("link", "set", leg, "name", "cable0"),
        ("link", "add", leg, "type", "bridge"),
        ("link", "set", "cable0", "master", leg, "up"),
        ("address", "add", f"{host.address}/24", "dev", leg),
        ("link", "set", leg, "up"),
    ):
        server.in_net("ip", *words)


def variables(site: Site, image: Path) -> Variables:
    """Returns the variables of `site.yml` for an emulated guest of this image."""
    (host,) = site.cluster.hosts
    settings = {
        "accelerator": "qemu",
        "virtual_function": False,
        "fabric_bridge": host.nics.pf,
        "memory_limit": False,  # it takes CAP_SYS_RESOURCE, which a container lacks
        "authorized_keys": [(site.directory / "key.pub").read_text().strip()],
    }
    return {
        # The image lets nobody in as root.
        "ansible_user": f"{{{{ 'vas' if inventory_hostname == '{GUEST}' else 'root' }}}}",
        "ansible_ssh_timeout": 60,
        "vas_guest_image": str(image),
        "vas_guest_settings": settings,
        "vas_guest_boot_timeout": _BOOT_SECONDS,
        "vas_hostcheck_login_seconds": _BOOT_SECONDS,
        "vas_hostcheck_cloud_init_seconds": _BOOT_SECONDS,
        "vas_route_switcher_settings": emulated.ROUTES,
        "vas_storage_host_virtual_functions": False,
        "vas_hadoop_answer_seconds": 1200,
        "vas_hadoop_reserved": "1GiB",
        "vas_hadoop_heaps": {"nodemanager": emulated.NODE_MANAGER_HEAP},
    }


def log_in(site: Site, command: str) -> Completed:
    """Runs a command as the guest's administrator.

    Never raises for a status; 255 means that there was no login.
    """
    asked = ("BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")
    options = [word for option in (*asked, "ConnectTimeout=60") for word in ("-o", option)]
    who = f"vas@{site.cluster.guest(GUEST).address}"
    key = str(site.directory / "key")
    return site.beside("ssh", "-q", *options, "-i", key, who, command, check=False)


def mount_scratch(site: Site, seconds: float) -> None:
    """Mounts the tmpfs that stands for Lustre, as soon as one can log in to the guest.

    Raises VasError if that takes longer than `seconds`.
    """
    command = f"sudo sh -c '{_SCRATCH}'"
    poll(lambda: log_in(site, command).status, lambda s: s == 0, seconds, f"a login to {GUEST}")
