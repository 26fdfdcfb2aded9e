"""Examples use addresses that are kept for documents: tried as they stand they reach nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from vas_core.repository import REPOSITORY
from vas_tests.pages import pages

# RFC 5737 and RFC 3849.
DOCUMENTATION = [
    ip_network(net)
    for net in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")
]
# The project's own (a lab's, in namespaces; RDMA's, in a machine; Vagrant's; VAS's bridge); this
# machine's, a link's.
OURS = [
    ip_network(net)
    for net in (
        *("10.77.0.0/16", "10.78.0.0/24", "10.213.0.0/24", "169.254.213.0/24"),
        *("127.0.0.0/8", "0.0.0.0/32"),
        *("fe80::/10", "ff02::/16", "::/127"),
    )
]
_ADDRESS = re.compile(
    r"(?<!section )(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.-]*\w)"
    r"|(?<![\w.:-])(?=[\da-f]*:[\da-f]*:)(?=[\da-f:]*[\da-f]{2})[\da-f:]+(?![\w:.-]*\w)",
    re.IGNORECASE,
)
# Read by tests and started by nobody; what ran on a machine is told as it was.
_NOT_EXAMPLES = ("cluster/examples/bad/", "cluster/examples/unusual/", "docs/evidence/")


def texts() -> Iterator[Path]:
    """The pages, the example maps, the programs with their help, and the playbooks."""
    yield from pages()
    yield from (REPOSITORY / "cluster/examples").rglob("*.yaml")
    yield from REPOSITORY.glob("*/vas_*/**/*.py")
    yield from (REPOSITORY / "ansible").rglob("*.yml")
    yield from (REPOSITORY / "ansible/roles").glob("*/README.md")


def strangers(text: str) -> list[str]:
    """Returns the addresses of a text that may be somebody's."""
    found = []
    for word in _ADDRESS.findall(text):
        try:
            address = ip_address(word)
        except ValueError:
            continue
        if not any(address in net for net in DOCUMENTATION + OURS):
            found.append(word)
    return found


def test_examples_reach_nobody() -> None:
    wrong = {}
    for path in texts():
        name = str(path.relative_to(REPOSITORY))
        if not name.startswith(_NOT_EXAMPLES) and (found := strangers(path.read_text())):
            wrong[name] = found
    assert wrong == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ping 10.0.0.1", ["10.0.0.1"]),
        ("10.10.0.11@tcp and 192.0.2.1@tcp", ["10.10.0.11"]),
        ("JDK 17.0.15, version 1.2.3.4-rc", []),
        ("10.77.0.11, 127.0.0.1, 203.0.113.9", []),
        ("fd00:0::12@tcp and [2001:DB8::1]:8088", ["fd00:0::12"]),
        ("at 04:37:29, MAC 52:54:00:00:00:01, ::1, items[1::2], a::b in C++", []),
    ],
)
def test_an_address_of_somebody_is_found(text: str, found: list[str]) -> None:
    assert strangers(text) == found
