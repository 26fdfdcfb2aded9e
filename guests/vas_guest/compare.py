"""Compares the desired domain with the one that libvirt has. Pure.

libvirt adds what was not given (addresses, controllers, defaults), converts units, and silently
ignores some redefinitions. So the two are compared as facts, `path = value`: all desired facts must
be there, and of the elements that VAS owns there must be no others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

# The child and attribute that identify an element if there are several of its name.
_KEYS = {
    "disk": ("target", "dev"),
    "interface": ("mac", "address"),
    "channel": ("target", "name"),
    "timer": (".", "name"),
    "vcpupin": (".", "vcpu"),
    "iothreadpin": (".", "iothread"),
    "memnode": (".", "cellid"),
    "cell": (".", "id"),
    "page": (".", "size"),
    # These are in the firmware, and in a processor.
    "feature": (".", "name"),
    "tag": (".", "id"),
    # libvirt adds one by itself to a q35.
    "watchdog": (".", "model"),
}
# Only desired elements of these names may be there: others would undo the desired ones.
_OWNED = re.compile(
    r"/(memoryBacking/hugepages|memtune|cputune|numatune|os/(kernel|initrd|cmdline)"
    r"|cpu/(numa|topology)"
    r"|devices/(disk\[[^]]*\]|interface\[[^]]*\](/mtu)?|hostdev|filesystem)$)"
)
_MACHINE = re.compile(r"pc-(q35|i440fx)-[\w.]+")


@dataclass(frozen=True)
class GuestDifference:
    """One fact that differs from the desired one; None stands for "not there".

    `wished` is the desired value: programs read that name in the JSON output.
    """

    where: str
    wished: str | None
    found: str | None


def counts_from_a_start(found: Iterable[GuestDifference]) -> bool:
    """Tells whether a running guest must be restarted for any of these differences.

    A seed is read at the first start only. A pool belongs to the server: a changed one becomes
    active when no guest has a VF of it, which one guest's restart does not achieve.
    """
    return any(one.where.startswith("/domain") for one in found)


def differences(desired: Element, found: Element) -> list[GuestDifference]:
    """Returns all differences of two domains, sorted; empty if `found` is as desired."""
    ours, theirs = dict(_facts(desired, "")), dict(_facts(found, ""))
    lacking = [
        GuestDifference(where, value, theirs.get(where))
        for where, value in ours.items()
        if theirs.get(where) != value
    ]
    more = [
        GuestDifference(where, None, value)
        for where, value in theirs.items()
        if where not in ours and "@" not in where and _OWNED.search(where)
    ]
    return sorted([*lacking, *more], key=lambda one: one.where)


def _facts(element: Element, above: str) -> Iterator[tuple[str, str]]:
    path = f"{above}/{_name(element)}"
    yield path, (element.text or "").strip() if not len(element) else ""
    for name, value in element.items():
        if name != "unit":  # both write KiB
            yield f"{path}@{name}", _normal(name, value)
    for child in element:
        yield from _facts(child, path)


def _name(element: Element) -> str:
    if element.tag not in _KEYS:
        return element.tag
    below, attribute = _KEYS[element.tag]
    holder = element.find(below)
    return f"{element.tag}[{holder.get(attribute, '') if holder is not None else ''}]"


def _normal(name: str, value: str) -> str:
    if name == "machine" and (family := _MACHINE.fullmatch(value)):
        return family[1]
    return value
