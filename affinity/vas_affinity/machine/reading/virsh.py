"""Asks `virsh` about guests; keeps each answer until something was changed."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from xml.etree.ElementTree import Element, tostring

from vas_core.virsh import virsh
from vas_core.xmltree import parse_xml


class Side(Enum):
    """One of a guest's two descriptions: the running one, and the one of its next start."""

    LIVE = "live"
    DEFINED = "config"


class Virsh:
    """The libvirt at a connection URI; None is virsh's own default.

    All methods that ask it raise VasError with virsh's message, and NotHere without virsh.
    """

    def __init__(self, uri: str | None = None) -> None:
        self._uri = uri
        self._lists: dict[str, dict[str, str]] = {}
        self._documents: dict[tuple[str, Side], Element] = {}

    def forget(self) -> None:
        """Drops all kept answers, so that virsh is asked again."""
        self._lists.clear()
        self._documents.clear()

    def forget_guest(self, uuid: str) -> None:
        """Drops a guest's kept XML: XML from before a change must not be defined again."""
        for side in Side:
            self._documents.pop((uuid, side), None)

    def do(self, *words: str, stdin: str | None = None) -> str:
        """Runs one virsh command and returns its output.

        Raises VasError with virsh's message, NotHere if virsh is not installed.
        """
        return virsh(self._uri, *words, stdin=stdin)

    def uuid(self, guest: str) -> str | None:
        """Returns the UUID of the guest of that name; None if there is none."""
        listed = self._listed("--all").items()
        return next((uuid for uuid, name in listed if name == guest), None)

    def is_running(self, uuid: str) -> bool:
        """Tells whether the guest runs or is paused."""
        return uuid in self._listed("--state-running", "--state-paused")

    def is_defined(self, uuid: str) -> bool:
        """Tells whether the guest has a definition, which outlives its end."""
        return uuid in self._listed("--all", "--persistent")

    def document(self, uuid: str, side: Side) -> Element:
        """Returns a guest's XML with its secrets, so that it can be defined again."""
        if (uuid, side) not in self._documents:
            words = ["dumpxml", uuid, "--security-info"]
            text = self.do(*words, *(["--inactive"] if side is Side.DEFINED else []))
            self._documents[uuid, side] = parse_xml(text, where=f"virsh dumpxml {uuid}")
        return self._documents[uuid, side]

    def define(self, document: Element) -> None:
        """Defines a guest by its XML."""
        self.do("define", "/dev/stdin", stdin=tostring(document, encoding="unicode"))

    def _listed(self, *words: str) -> dict[str, str]:
        """Returns the guests that `virsh list` names: UUID -> name."""
        key = " ".join(words)
        if key not in self._lists:
            self._lists[key] = dict(_rows(self.do("list", "--uuid", "--name", *words)))
        return self._lists[key]


def _rows(text: str) -> Iterator[tuple[str, str]]:
    for line in filter(None, text.splitlines()):
        uuid, _, name = line.partition(" ")
        yield uuid, name.strip()
