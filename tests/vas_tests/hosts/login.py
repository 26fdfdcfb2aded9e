"""The login node of a site of hosts, and the scientist who works there."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vas_core.process import Completed
from vas_tests.hosts.site import Site

SCIENTIST = "yarn"
"""The only user whose jobs run without Hadoop's setuid program: containers run as yarn."""
_NUMBER = "860"
_MODULEFILE = "/etc/modulefiles/vas"


def prepare(site: Site) -> None:
    """Gives the login node what the site brings: the scientist's account, and a DNS.

    Raises CommandFailed.
    """
    node = site.hosts[_login(site)]
    node.run("useradd", "--uid", _NUMBER, "--create-home", SCIENTIST)
    cluster = site.cluster
    names = {guest.name: guest.address for guest in cluster.guests()}
    names[cluster.yarn.resourcemanager.name] = cluster.resourcemanager_address
    names |= {client.name: client.address for client in cluster.yarn.clients}
    lines = "".join(f"{address} {name}\n" for name, address in names.items())
    node.run("tee", "-a", "/etc/hosts", stdin=lines)


def as_scientist(
    site: Site, command: str, variables: Mapping[str, str] | None = None, *, check: bool = True
) -> Completed:
    """Runs a command on the login node as a user who has typed `module load vas`.

    `variables` are further ones of the login's environment. Raises CommandFailed if its status is
    not 0, unless `check` is false.
    """
    node = site.hosts[_login(site)]
    text = node.run("cat", _MODULEFILE).stdout
    loaded = dict(re.findall(r"(?m)^setenv (\S+) (.+)", text)) | dict(variables or {})
    (path,) = re.findall(r"(?m)^prepend-path PATH (.+)", text)
    exported = [f"export {name}={value}" for name, value in loaded.items()]
    shell = "; ".join((*exported, f"export PATH={path}:$PATH", "cd", command))
    return node.run("runuser", "-u", SCIENTIST, "--", "bash", "-c", shell, check=check)


def _login(site: Site) -> str:
    return site.cluster.yarn.clients[0].name
