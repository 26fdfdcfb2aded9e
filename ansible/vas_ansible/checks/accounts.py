"""Checks the users that write to Lustre, which stores numbers and not names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vas_ansible.checks.facts import Account
from vas_ansible.checks.finding import CheckFinding

# min.user.id of container-executor.cfg (roles/hadoop/tasks/executor.yml).
_LEAST_ID = 1000


def examine_accounts(node: str, accounts: Sequence[Account]) -> Iterator[CheckFinding]:
    """Finds accounts whose number differs from the required one, or is taken by another account."""
    for account in accounts:
        if account.found is not None and account.found != account.wanted:
            what = f"{account.name} is {account.found}, and {account.wanted} on every node"
            fix = (
                "change it there (usermod -u, groupmod -g), or set vas_hadoop_ids to the site's own"
            )
            yield CheckFinding(node, "accounts", what, fix)
        elif account.found is None and account.holder:
            what = f"{account.wanted} is {account.holder}'s, and {account.name}'s on every node"
            fix = "set vas_hadoop_ids to numbers that are free on every node"
            yield CheckFinding(node, "accounts", what, fix)


def examine_users(node: str, users: Mapping[str, int | None]) -> Iterator[CheckFinding]:
    """Finds users of the queues for whom container-executor would start no container."""
    if missing := sorted(name for name, number in users.items() if number is None):
        what = f"nobody knows {', '.join(missing)}, whom the map's queues name"
        fix = "let the node know the site's users (sssd, useradd with one number everywhere)"
        yield CheckFinding(node, "users", what, fix)
    if low := sorted(
        name for name, number in users.items() if number is not None and number < _LEAST_ID
    ):
        what = f"{', '.join(low)}, whom the map's queues name, is below {_LEAST_ID}: no container"
        fix = "take the user out of the queue; system users run no jobs"
        yield CheckFinding(node, "users", what + " is started for it", fix)
