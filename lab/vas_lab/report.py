"""Describes a running lab as data, for `vas lab status`: what runs, and what of it is real."""

from __future__ import annotations

from typing import Any

from vas_lab.control import ControlRequest
from vas_lab.health import find_problems
from vas_lab.lab import Lab
from vas_lab.spec import LabLinks

REAL = {
    "YARN": "the ResourceManager, NodeManagers and JobHistoryServer are Hadoop's own",
    "network": "one kernel network namespace per host and guest, joined by veth pairs and bridges",
    "routes": "the route switcher's own: to a guest's own host by virtio, elsewhere by its VF",
    "layouts": "every file carries the bytes that Lustre's lustre.lov attribute would have",
    "scheduling": "the plugin decides in the ResourceManager, from those layouts",
}
NOT_REAL = {
    "disks": "all bytes lie on one local disk: reading from another host's OST costs nothing here",
    "Lustre": "a preloaded library and a small daemon answer for its client and its MDS",
    "machines": "hosts and guests share one kernel, its CPUs and its memory",
    "NICs": "a veth pair stands for each; virtio and VF are equally fast (but: `--links honest`)",
}
HONEST = {
    "links": "what a client has not in its cache crosses the network to its OST's host and back",
}
NOT_HONEST = NOT_REAL | {
    "disks": "all bytes lie on one local disk; a node's page cache is a list of what is in it",
    "NICs": "a veth pair stands for each, shaped to a tenth of the speeds of the paper's Table 4.1",
}


def describe(lab: Lab) -> dict[str, Any]:
    """Returns the description of a running lab that `vas lab status --json` prints.

    Raises VasError if the lab does not answer.
    """
    answer = lab.ask(ControlRequest(ask="status"))
    spec = lab.spec
    is_honest = spec.links is LabLinks.HONEST
    problems = find_problems(answer, spec.state_dir)
    return {
        "name": spec.name,
        "up": True,
        "ok": not problems,
        "problems": [problem.as_json() for problem in problems],
        "state_dir": str(spec.state_dir),
        "rootless": spec.user_namespace,
        "plugins": spec.plugin_jar is not None,
        "mount": spec.cluster.lustre.mount,
        "supervisor_pid": lab.running.supervisor,
        "up_seconds": round(lab.running.up_seconds, 1),
        "cpu_seconds": answer.cpu_seconds,
        "rss_bytes": sum(daemon.rss_bytes for daemon in answer.daemons),
        "nodes": answer.nodes,
        "daemons": [daemon.model_dump() for daemon in answer.daemons],
        "paths": [path.model_dump(mode="json") for path in answer.paths],
        "links": spec.links.value,
        "real": REAL | HONEST if is_honest else REAL,
        "not_real": NOT_HONEST if is_honest else NOT_REAL,
    }
