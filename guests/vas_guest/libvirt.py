"""Asks and changes the libvirt of a storage server by `virsh`."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree as Xml

from vas_core.virsh import virsh
from vas_core.xmltree import parse_xml


@dataclass(frozen=True)
class GuestLibvirt:
    """The libvirt at a connection URI; None is virsh's own default.

    All methods raise VasError with virsh's message where virsh fails, and NotHere without
    virsh.
    """

    uri: str | None = None

    def do(self, *words: str, stdin: str | None = None) -> str:
        """Runs one virsh command and returns its output. Raises VasError with virsh's message."""
        return virsh(self.uri, *words, stdin=stdin)

    def listed(self, *words: str) -> list[str]:
        """Returns the lines that a virsh command prints, without blank ones; UUIDs of `list`."""
        words = (*words, "--uuid") if words[0] == "list" else words
        return [line.strip() for line in self.do(*words).splitlines() if line.strip()]

    def machines(self) -> list[tuple[str, str]]:
        """Returns UUID and name of every virtual machine."""
        lines = self.do("list", "--all", "--uuid", "--name").splitlines()
        rows = (line.split(maxsplit=1) for line in lines if line.strip())
        return [(uuid, name.strip()) for uuid, name in rows]

    def machine(self, uuid: str, *options: str) -> Xml.Element:
        """Returns the XML of a machine as it runs, or with `--inactive` as it is defined."""
        return parse_xml(self.do("dumpxml", uuid, *options), where=f"virsh dumpxml {uuid}")

    def network(self, name: str, *options: str) -> Xml.Element:
        """Returns the XML of a network as it is active, or with `--inactive` as it is defined."""
        return parse_xml(self.do("net-dumpxml", name, *options), where=name)
