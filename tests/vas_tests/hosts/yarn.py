"""What a site's ResourceManager says."""

from __future__ import annotations

import json

from vas_tests.hosts.site import Site


def running_nodes(site: Site) -> list[str]:
    """The guests that it has."""
    answer = asked(site, "http://rm1:8088/ws/v1/cluster/nodes?states=RUNNING")
    nodes = (json.loads(answer)["nodes"] or {}).get("node", [])
    return [node["nodeHostName"] for node in nodes]


def asked(site: Site, url: str) -> str:
    """What a web address answers, asked by the guest."""
    program = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"
    return site.hosts["vm1"].run("python3", "-c", program, url).stdout
