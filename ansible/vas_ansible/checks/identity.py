"""Checks whether a site that runs containers as their users authenticates its users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ansible.module_utils.parsing.convert_bool import boolean

from vas_ansible.checks.finding import CheckFinding
from vas_ansible.hadoop import AUTHENTICATION, LIMIT_USERS
from vas_cluster import Cluster

_WAIVER = "or write into the map why every user is believed: yarn.trusts_every_user: REASON"
_EFFECT = "whoever reaches the ResourceManager runs programs as any user, on the mount too"


def examine_identity(
    cluster: Cluster, node: str, variables: Mapping[str, object]
) -> Iterator[CheckFinding]:
    """Finds containers run as their users without Kerberos, unless the map accepts that.

    Without Kerberos Hadoop believes the name that a client gives (HADOOP_USER_NAME): real user
    numbers then let everybody be everybody on Lustre.
    """
    properties = variables.get("vas_hadoop_properties") or {}
    assert isinstance(properties, Mapping), "`examine_options` has seen to that"
    realm = variables.get("vas_hadoop_kerberos_realm")
    proved = str(properties.get(AUTHENTICATION, "kerberos")).strip().lower()
    if realm and proved != "kerberos":
        what = f"{AUTHENTICATION} is {proved}, which takes vas_hadoop_kerberos_realm back"
        yield CheckFinding(node, "vas_hadoop_properties", what, "leave that key out")
    if realm or cluster.yarn.trusts_every_user:
        return
    if variables.get("vas_hadoop_container_executor"):
        what = f"is not set, and containers run as the users that clients name: {_EFFECT}"
        fix = f"name the realm of Hadoop's Kerberos, {_WAIVER}"
        yield CheckFinding(node, "vas_hadoop_kerberos_realm", what, fix)
    if not boolean(properties.get(LIMIT_USERS, True), strict=False):
        what = f"{LIMIT_USERS} is false without Kerberos: {_EFFECT}"
        fix = f"leave that key out, {_WAIVER}"
        yield CheckFinding(node, "vas_hadoop_properties", what, fix)
