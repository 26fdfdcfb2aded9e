"""Checks that a site says what no default can: where VAS, Hadoop, the image and the keys are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vas_ansible.checks.finding import CheckFinding
from vas_cluster import Cluster

# Variable -> what it names, and when it may be empty.
_REQUIRED = {
    "vas_program_archive": (
        "name the archive that `vas provision wheels FILE` made",
        '"" where the machines have VAS already',
    ),
    "vas_hadoop_archive": (
        "name the archive that `vas provision hadoop FILE` made",
        '"" where the machines have Hadoop already',
    ),
}
_OF_SERVERS = {
    "vas_guest_image": (
        "name the directory that `vas image build --output DIRECTORY` made",
        '"" where each guest has its disk already',
    ),
}
_SETTINGS, _KEYS = "vas_guest_settings", "authorized_keys"


def examine_required(
    cluster: Cluster, by_node: Mapping[str, Mapping[str, object]]
) -> list[CheckFinding]:
    """Finds required variables that nobody set, of the first node that lacks each.

    `by_node`: node -> its variables. A variable that is set to nothing is a choice.
    """
    found: dict[str, CheckFinding] = {}
    for node, variables in by_node.items():
        for finding in _missing(cluster, node, variables):
            found.setdefault(finding.check, finding)
    return list(found.values())


def _missing(
    cluster: Cluster, node: str, variables: Mapping[str, object]
) -> Iterator[CheckFinding]:
    host = cluster.host(node)
    serves = host is not None and bool(host.guests)
    for name, (fix, empty) in (_REQUIRED | (_OF_SERVERS if serves else {})).items():
        if name not in variables:
            yield CheckFinding(node, name, "is not set", f"{fix}, or set it to {empty}")
    settings = variables.get(_SETTINGS, {})
    if serves and isinstance(settings, Mapping) and _KEYS not in settings:
        fix = f"{_SETTINGS}: {{{_KEYS}: [PUBLIC KEY]}}, or [] where the image lets somebody in"
        yield CheckFinding(node, _SETTINGS, f"has no {_KEYS}: nobody could log in to a guest", fix)
