"""The users that write to Lustre, which knows numbers and no names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vas_ansible.checks.facts import Account
from vas_ansible.checks.finding import Finding


def examine_accounts(node: str, accounts: Sequence[Account]) -> Iterator[Finding]:
    """Those that have another number than on every other node, or could not get theirs."""
    for account in accounts:
        if account.found is not None and account.found != account.wanted:
            what = f"{account.name} is {account.found}, and {account.wanted} on every node"
            fix = (
                "change it there (usermod -u, groupmod -g), or set vas_hadoop_ids to the site's own"
            )
            yield Finding(node, "accounts", what, fix)
        elif account.found is None and account.holder:
            what = f"{account.wanted} is {account.holder}'s, and {account.name}'s on every node"
            fix = "set vas_hadoop_ids to numbers that are free on every node"
            yield Finding(node, "accounts", what, fix)
