"""Takes a role through its life: present, again without a change, checked, absent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from vas_tests.hosts.compare import differences, look
from vas_tests.hosts.site import PlaybookOutcome, Site

_PLAY = """---
- name: The role {role}
  hosts: {hosts}
  become: true
  roles:
    - role: {role}
"""


def play_role(
    site: Site, role: str, hosts: str, variables: Mapping[str, object], *words: str
) -> PlaybookOutcome:
    """Runs one role on the hosts of a pattern, such as `vas_oss:vas_guests`.

    Raises CommandFailed with the playbook's output if a task fails.
    """
    return site.play(role_playbook(site, role, hosts), variables, *words)


def role_playbook(site: Site, role: str, hosts: str) -> Path:
    """Writes a playbook of one role among the site's files, and returns its path."""
    playbook = site.directory / f"{role}.yml"
    playbook.write_text(_PLAY.format(role=role, hosts=hosts))
    return playbook


def cycle(site: Site, role: str, hosts: str, variables: Mapping[str, object]) -> None:
    """Makes a role present, again, checks it and makes it absent, on the hosts of a pattern.

    Asserts that each step changes what it should, and that every host is then as it was before.
    """
    with made_true(site, role, hosts, variables):
        pass


@contextmanager
def made_true(
    site: Site, role: str, hosts: str, variables: Mapping[str, object], leaves: Sequence[str] = ()
) -> Iterator[None]:
    """Makes a role present for the body, then absent, with the assertions of `cycle`.

    `leaves`: directories whose content is not compared, because the role leaves it in place.
    """
    names = _members(site, hosts)
    before = {name: look(site.hosts[name], leaves) for name in names}
    present = {**variables, f"vas_{role}_state": "present"}
    absent = {**variables, f"vas_{role}_state": "absent"}

    for word in ("--check", "--diff"):
        done = play_role(site, role, hosts, present, word)
        assert all(done.changed[name] > 0 for name in names), done.text
    for words in ((), ("--check", "--diff")):
        again = play_role(site, role, hosts, present, *words)
        assert again.changes() == 0, again.text
    yield
    would = play_role(site, role, hosts, absent, "--check")
    assert all(would.changed[name] > 0 for name in names), would.text
    play_role(site, role, hosts, absent)
    again = play_role(site, role, hosts, absent)
    assert again.changes() == 0, again.text
    for name in names:
        left = differences(before[name], look(site.hosts[name], leaves))
        assert not left, f"{role} on {name}:\n{left}"


def _members(site: Site, hosts: str) -> list[str]:
    groups = {
        "vas_oss": [host.name for host in site.cluster.hosts],
        "vas_guests": [guest.name for guest in site.cluster.guests()],
        "vas_resourcemanager": [site.cluster.yarn.resourcemanager.name],
        "vas_clients": [client.name for client in site.cluster.yarn.clients],
    }
    return [name for group in hosts.split(":") for name in groups[group]]
