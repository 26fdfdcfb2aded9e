"""Checks the users that write to Lustre, which stores numbers and not names."""

from __future__ import annotations

from collections import Counter, defaultdict
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


def usual_numbers(known: Mapping[str, Mapping[str, int | None]]) -> dict[str, int]:
    """Returns user -> the number that most nodes have for the user; the first of equally many.

    `known`: node -> user -> number, None where the node does not know the user.
    """
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for users in known.values():
        for name, number in users.items():
            if number is not None:
                found[name][number] += 1
    return {name: numbers.most_common(1)[0][0] for name, numbers in found.items()}


def same_users(
    node: str, users: Mapping[str, int | None], usual: Mapping[str, int]
) -> Iterator[CheckFinding]:
    """Finds users whose number differs from `usual_numbers`: their files would be another's."""
    for name, number in sorted(users.items()):
        if number is not None and number != usual.get(name, number):
            what = f"{name} has the number {number} here, and {usual[name]} on most nodes"
            fix = "give the user one number everywhere: Lustre stores numbers, not names"
            yield CheckFinding(node, "users", what, fix)


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
