"""What `virsh` says of guests, each thing asked once until something was changed."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from xml.etree.ElementTree import Element, tostring

from vas_affinity.apply.knob import Gone
from vas_core.virsh import virsh
from vas_core.xmltree import parse_xml


class Side(Enum):
    """Which of a guest's two descriptions: what runs, and what is started the next time."""

    LIVE = "live"
    DEFINED = "config"


class Virsh:
    """The libvirt at a connection URI; None is virsh's own default."""

    def __init__(self, uri: str | None = None) -> None:
        self._uri = uri
        self._lists: dict[str, dict[str, str]] = {}
        self._documents: dict[tuple[str, Side], Element] = {}

    def forget(self) -> None:
        """Asks anew from now on."""
        self._lists.clear()
        self._documents.clear()

    def forget_guest(self, uuid: str) -> None:
        """Reads a guest anew: what was read before a change must not be defined again."""
        for side in Side:
            self._documents.pop((uuid, side), None)

    def do(self, *words: str, stdin: str | None = None) -> str:
        """Runs one of virsh's commands. Raises VasError with what virsh said, NotHere."""
        return virsh(self._uri, *words, stdin=stdin)

    def uuid(self, guest: str) -> str:
        """A guest's, by its name. Raises Gone."""
        for uuid, name in self._listed("--all").items():
            if name == guest:
                return uuid
        raise Gone("there is no such guest here")

    def is_running(self, uuid: str) -> bool:
        """Whether it runs."""
        return uuid in self._listed("--state-running", "--state-paused")

    def is_defined(self, uuid: str) -> bool:
        """Whether it outlives its end."""
        return uuid in self._listed("--all", "--persistent")

    def document(self, uuid: str, side: Side) -> Element:
        """A guest's XML, with what it keeps secret: to be defined again."""
        if (uuid, side) not in self._documents:
            words = ["dumpxml", uuid, "--security-info"]
            text = self.do(*words, *(["--inactive"] if side is Side.DEFINED else []))
            self._documents[uuid, side] = parse_xml(text, where=f"virsh dumpxml {uuid}")
        return self._documents[uuid, side]

    def define(self, document: Element) -> None:
        """Defines a guest."""
        self.do("define", "/dev/stdin", stdin=tostring(document, encoding="unicode"))

    def _listed(self, *words: str) -> dict[str, str]:
        """UUID -> name of the guests that `virsh list` names."""
        key = " ".join(words)
        if key not in self._lists:
            self._lists[key] = dict(_rows(self.do("list", "--uuid", "--name", *words)))
        return self._lists[key]


def _rows(text: str) -> Iterator[tuple[str, str]]:
    for line in filter(None, text.splitlines()):
        uuid, _, name = line.partition(" ")
        yield uuid, name.strip()
