"""`vas lab status`, as data: what runs, and what of it is real."""

from __future__ import annotations

from typing import Any

from vas_lab.control import Request
from vas_lab.health import find_problems
from vas_lab.lab import Lab

REAL = {
    "YARN": "the ResourceManager, NodeManagers and JobHistoryServer are Hadoop's own",
    "network": "one kernel network namespace per host and guest, joined by veth pairs and bridges",
    "layouts": "every file carries the bytes that Lustre's lustre.lov attribute would have",
    "scheduling": "the plugin decides in the ResourceManager, from those layouts",
}
NOT_REAL = {
    "disks": "all bytes lie on one local disk: reading from another host's OST costs nothing here",
    "Lustre": "a preloaded library and a small daemon answer for its client and its MDS",
    "machines": "hosts and guests share one kernel, its CPUs and its memory",
}


def describe(lab: Lab) -> dict[str, Any]:
    """A lab that is up, as `vas lab status --json` prints it."""
    answer = lab.ask(Request(ask="status"))
    spec = lab.spec
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
        "real": REAL,
        "not_real": NOT_REAL,
    }
