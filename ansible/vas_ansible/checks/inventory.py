"""Checks an inventory without reading any machine."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from vas_ansible.checks.documents import examine_settings
from vas_ansible.checks.executor import bytes_of, examine_executor
from vas_ansible.checks.files import examine_files
from vas_ansible.checks.finding import CheckFinding
from vas_ansible.checks.identity import examine_identity
from vas_ansible.checks.options import examine_options
from vas_ansible.hadoop import Choices, site_files
from vas_cluster import Cluster
from vas_core.errors import VasError
from vas_core.suggest import closest

# Set by the inventory plugin.
_MADE = {
    "vas_cluster",
    "vas_cluster_file",
    "vas_host",
    "vas_guest",
    "vas_guest_host",
    "vas_nics",
    "vas_address",
}
# How Hadoop's own keys of secrets end; all of them may come from a credential provider.
_SECRET = ("password", "secret.key")
Variables = Mapping[str, object]
LATER = object()
"""A value that needs facts, which nobody has read yet."""


@dataclass(frozen=True)
class UnreadableValue:
    """A variable's value that cannot be computed on the controller, and why."""

    why: str


def examine_inventory(
    cluster: Cluster,
    by_node: Mapping[str, Variables],
    options: Mapping[str, Mapping[str, Any]],
    known: Collection[str],
    removed: Mapping[str, str],
    exists: Callable[[str], bool] = os.path.exists,
    read: Callable[[str], bytes] = bytes_of,
) -> list[CheckFinding]:
    """Finds every problem of the variables that a site set.

    `by_node`: node -> its variables; `options`: option of a role -> its specification and the
    "page" that describes it; `known`: further names that may be set; `removed`: former option ->
    what to do instead; `exists`: tells whether a file is on the controller; `read`: returns its
    content. Of a variable that is LATER only the name is looked at.
    """
    found = [*_manager(cluster)]
    for node, variables in by_node.items():
        found += _unknown(node, variables, {*options, *known}, removed)
        found += _unreadable(node, variables)
        judged = {
            name: value
            for name, value in variables.items()
            if value is not LATER and not isinstance(value, UnreadableValue)
        }
        unfit = [*examine_options(node, judged, options)]
        found += unfit
        unjudged = variables.keys() - judged.keys() | {finding.check for finding in unfit}
        judged = {name: value for name, value in judged.items() if name not in unjudged}
        values = [*examine_files(node, judged, exists), *examine_executor(node, judged, read)]
        values += _values(cluster, node, judged)
        if "vas_guest_settings" not in unjudged:
            values += _virtual_functions(node, judged)
        found += [finding for finding in values if finding.check not in unjudged]
    return _once(found)


def _values(cluster: Cluster, node: str, variables: Variables) -> Iterator[CheckFinding]:
    yield from _memory(cluster, node, variables)
    yield from _kerberos(node, variables)
    yield from _executor(cluster, node, variables)
    yield from examine_identity(cluster, node, variables)
    yield from _secrets(node, variables)
    yield from _lustre(node, variables)
    yield from examine_settings(node, variables)


def _manager(cluster: Cluster) -> Iterator[CheckFinding]:
    name = cluster.yarn.resourcemanager.name
    if cluster.host(name):
        what = "the ResourceManager would need Lustre's client on a storage server"
        fix = "name a guest or a machine of its own in yarn.resourcemanager"
        yield CheckFinding(name, "resourcemanager", what, fix)


def _unknown(
    node: str, variables: Variables, known: Collection[str], removed: Mapping[str, str]
) -> Iterator[CheckFinding]:
    for name in sorted(variables):
        if not name.startswith("vas_") or name in known or name in _MADE:
            continue
        if name in removed:
            yield CheckFinding(node, name, "is not an option any more", removed[name])
            continue
        close = closest(name, sorted(known))
        fix = f"did you mean {close}?" if close else "see docs/provisioning.md for the options"
        yield CheckFinding(node, name, "is not an option of any role", fix)


def _unreadable(node: str, variables: Variables) -> Iterator[CheckFinding]:
    """Such as a lookup of a file that is not there; Ansible would stop later, with this alone."""
    for name, value in variables.items():
        if isinstance(value, UnreadableValue):
            is_key = ".pub" in value.why
            fix = "make the key: `ssh-keygen -t ed25519`" if is_key else "correct the expression"
            what = f"has no value: {value.why}"
            yield CheckFinding(node, name, what, f"{fix}, or name another file" if is_key else fix)


def _memory(cluster: Cluster, node: str, variables: Variables) -> Iterator[CheckFinding]:
    if cluster.host_by_guest(node) is None:
        return
    reserved = str(variables.get("vas_hadoop_reserved", Choices().reserved))
    try:
        site_files(cluster, node, Choices(reserved=reserved))
    except VasError as wrong:
        yield CheckFinding(node, "vas_hadoop_reserved", wrong.what, wrong.hint or "correct it")


def _kerberos(node: str, variables: Variables) -> Iterator[CheckFinding]:
    if not variables.get("vas_hadoop_kerberos_realm"):
        return
    if not variables.get("vas_hadoop_kerberos_keytabs"):
        fix = "name the controller's directory with the keytabs"
        yield CheckFinding(node, "vas_hadoop_kerberos_keytabs", "a realm without keytabs", fix)


def _executor(cluster: Cluster, node: str, variables: Variables) -> Iterator[CheckFinding]:
    """Without Hadoop's setuid program every container is yarn's, whoever submitted it."""
    if variables.get("vas_hadoop_container_executor"):
        return
    others = variables.get("vas_hadoop_users") or ()
    assert isinstance(others, Collection), "`examine_options` has seen to that"
    users = {user for queue in cluster.yarn.queues for user in queue.users} | {*map(str, others)}
    users -= {"yarn"}
    if variables.get("vas_hadoop_kerberos_realm"):
        what = "secure mode needs containers to run as their users"
    elif users and cluster.host_by_guest(node):
        named = ", ".join(sorted(users))
        what = f"is not set: jobs of {named}, whom the map's queues or vas_hadoop_users name,"
        what += " would run as yarn"
    else:
        return
    fix = "name Hadoop's program container-executor, built for these nodes"
    yield CheckFinding(node, "vas_hadoop_container_executor", what, fix)


def _secrets(node: str, variables: Variables) -> Iterator[CheckFinding]:
    """Hadoop's files are everybody's to read, and a run with --diff prints them."""
    properties = variables.get("vas_hadoop_properties") or {}
    assert isinstance(properties, Mapping), "`examine_options` has seen to that"
    for key in sorted(key for key in map(str, properties) if key.endswith(_SECRET)):
        fix = "put it into a keystore that hadoop.security.credential.provider.path names"
        yield CheckFinding(
            node, "vas_hadoop_properties", f"{key} would be everybody's to read", fix
        )


def _virtual_functions(node: str, variables: Variables) -> Iterator[CheckFinding]:
    """The server makes them, and its guests get them: two roles must agree."""
    guests = variables.get("vas_guest_settings") or {}
    assert isinstance(guests, Mapping), "`examine_options` has seen to that"
    made = boolean(variables.get("vas_storage_host_virtual_functions", True), strict=False)
    taken = boolean(guests.get("virtual_function", True), strict=False)
    if made != taken:
        what = f"is {str(made).lower()}, and vas_guest_settings.virtual_function is "
        fix = "make them the same; false without SR-IOV"
        yield CheckFinding(
            node, "vas_storage_host_virtual_functions", what + str(taken).lower(), fix
        )


def _lustre(node: str, variables: Variables) -> Iterator[CheckFinding]:
    """Only the version tells which kernels a client fits that is not installed yet."""
    repository = variables.get("vas_lustre_client_repository")
    if repository and not variables.get("vas_lustre_client_version"):
        what = "is not named, so that nobody can tell whether it fits the kernels"
        fix = "name the Lustre version of vas_lustre_client_repository, like 2.16.1"
        yield CheckFinding(node, "vas_lustre_client_version", what, fix)


def _once(found: list[CheckFinding]) -> list[CheckFinding]:
    """A variable of all nodes is one finding, of the first of them."""
    seen: dict[tuple[str, str, str], CheckFinding] = {}
    for finding in found:
        seen.setdefault((finding.check, finding.what, finding.fix), finding)
    return list(seen.values())
