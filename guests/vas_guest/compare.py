"""What differs between the domain as wished and as libvirt has it. Pure.

libvirt fills in what was not said (addresses, controllers, defaults), writes units its own way and
ignores some redefinitions without a word. So the two are compared as facts, `path = value`: all
that is wished must be there, and of what VAS owns there must be no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

# Of an element that there are several of, what tells one from another: (below it, attribute).
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
    # Of the firmware, and of a processor.
    "feature": (".", "name"),
    "tag": (".", "id"),
    # libvirt adds one of its own to a q35.
    "watchdog": (".", "model"),
}
# Of these nothing may be there that is not wished: they would undo what is.
_OWNED = re.compile(
    r"/(memoryBacking/hugepages|memtune|cputune|numatune|os/(kernel|initrd|cmdline)"
    r"|cpu/(numa|topology)"
    r"|devices/(disk\[[^]]*\]|interface\[[^]]*\](/mtu)?|hostdev|filesystem)$)"
)
_MACHINE = re.compile(r"pc-(q35|i440fx)-[\w.]+")


@dataclass(frozen=True)
class Difference:
    """One fact that is not as wished; None stands for "not there"."""

    where: str
    wished: str | None
    found: str | None


def counts_from_a_start(found: Iterable[Difference]) -> bool:
    """Whether a guest that runs has to be shut down and started for any of it.

    A seed is read at the first start only. A pool is its server's: it is active when no guest has
    a VF of it, which one guest's restart does not bring about.
    """
    return any(one.where.startswith("/domain") for one in found)


def differences(wished: Element, found: Element) -> list[Difference]:
    """Every one, sorted; empty if libvirt has the domain as wished."""
    ours, theirs = dict(_facts(wished, "")), dict(_facts(found, ""))
    lacking = [
        Difference(where, value, theirs.get(where))
        for where, value in ours.items()
        if theirs.get(where) != value
    ]
    more = [
        Difference(where, None, value)
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
