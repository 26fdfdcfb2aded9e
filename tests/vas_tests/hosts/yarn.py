"""Asks the ResourceManager of a site of hosts."""

from __future__ import annotations

import json

from vas_tests.hosts.site import Site


def running_nodes(site: Site, by: str = "vm1") -> list[str]:
    """Returns the nodes that the ResourceManager counts as RUNNING, asked from the machine `by`."""
    answer = asked(site, "http://rm1:8088/ws/v1/cluster/nodes?states=RUNNING", by)
    nodes = (json.loads(answer)["nodes"] or {}).get("node", [])
    return [node["nodeHostName"] for node in nodes]


def asked(site: Site, url: str, by: str = "vm1") -> str:
    """Returns the text that a URL answers, asked from the machine `by`.

    Raises CommandFailed if the server does not answer.
    """
    program = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"
    return site.hosts[by].run("python3", "-c", program, url).stdout


def applications(site: Site, by: str) -> list[dict[str, str]]:
    """Returns the applications that YARN has run, asked from the machine `by`."""
    answer = asked(site, "http://rm1:8088/ws/v1/cluster/apps", by)
    found: list[dict[str, str]] = (json.loads(answer)["apps"] or {}).get("app", [])
    return found
