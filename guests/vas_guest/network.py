"""Makes the pool of a storage server's virtual functions as a libvirt network. Pure."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from vas_cluster import Cluster, Host

_NAMESPACE = uuid.UUID("0b9d5c0e-52c4-5f0a-8f51-7c9a3f6a2140")
# As sysfs has it: domain, bus, slot and function.
_ADDRESS = re.compile(r"([0-9a-f]{4,}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])")
_PARTS = ("domain", "bus", "slot", "function")


def network_name(host: Host) -> str:
    """Returns the name of the libvirt network for a host's PF."""
    return f"vas-{host.nics.pf}"


def network_uuid(cluster: Cluster, host: Host) -> str:
    """Returns the UUID of a host's libvirt network, which depends on site, host and PF only.

    A network of the same name with another UUID is not VAS's.
    """
    return str(uuid.uuid5(_NAMESPACE, f"{cluster.site}/{host.name}/{host.nics.pf}"))


def network(cluster: Cluster, host: Host, functions: Sequence[str]) -> Xml.Element:
    """Returns the network that gives a guest a free VF and takes it back when the guest ends.

    `functions` are PCI addresses like `0000:03:10.0`; raises ValueError for others. The network has
    these VFs only: others of the PF may be in use by somebody else.
    """
    root = Xml.Element("network")
    Xml.SubElement(root, "name").text = network_name(host)
    Xml.SubElement(root, "uuid").text = network_uuid(cluster, host)
    forward = Xml.SubElement(root, "forward", mode="hostdev", managed="yes")
    for address in functions:
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise ValueError(f"{address!r} is not a PCI address")
        parts = {part: f"0x{digits}" for part, digits in zip(_PARTS, found.groups(), strict=True)}
        Xml.SubElement(forward, "address", {"type": "pci"} | parts)
    return root


def has(found: Xml.Element) -> str:
    """Returns the devices that a network gives to guests, as one line of words.

    These are sorted PCI addresses, and `pf NAME` for a whole PF.
    """
    adapters = [f"pf {pf.get('dev')}" for pf in found.iterfind("forward/pf")]
    return " ".join(adapters + sorted(map(_address, found.iterfind("forward/address"))))


def _address(element: Xml.Element) -> str:
    domain, bus, slot, function = (int(element.get(part) or "0", 16) for part in _PARTS)
    return f"{domain:04x}:{bus:02x}:{slot:02x}.{function:x}"
