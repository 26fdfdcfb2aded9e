"""The pool of a storage server's virtual functions, as a libvirt network. Pure."""

from __future__ import annotations

import uuid
from xml.etree import ElementTree as Xml

from vas_cluster import Cluster, Host

_NAMESPACE = uuid.UUID("0b9d5c0e-52c4-5f0a-8f51-7c9a3f6a2140")


def network_name(host: Host) -> str:
    """The network of a host's PF."""
    return f"vas-{host.nics.pf}"


def network(cluster: Cluster, host: Host) -> Xml.Element:
    """The network that gives a guest a free VF of the PF, and takes it back at its end."""
    root = Xml.Element("network")
    Xml.SubElement(root, "name").text = network_name(host)
    identity = uuid.uuid5(_NAMESPACE, f"{cluster.site}/{host.name}/{host.nics.pf}")
    Xml.SubElement(root, "uuid").text = str(identity)
    forward = Xml.SubElement(root, "forward", mode="hostdev", managed="yes")
    Xml.SubElement(forward, "pf", dev=host.nics.pf)
    return root
