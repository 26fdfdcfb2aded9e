"""Which virtual functions of a storage server are the guests' of the map: kept between boots."""

from __future__ import annotations

import json
from collections.abc import Collection

from vas_core.errors import BadInput
from vas_core.files import make_directories, write_atomically
from vas_core.root import Root
from vas_guest.trust import read_functions
from vas_guest.vfs import Adapter

FILE = "var/lib/vas/vfs.json"


def read_pool(root: Root, pf: str) -> tuple[str, ...]:
    """The PCI addresses of those of a PF; empty if none were ever chosen."""
    text = root.read(FILE)
    try:
        return tuple(json.loads(text or "{}").get(pf, ()))
    except ValueError:
        hint = "remove it, and run `vas guest vfs`"
        raise BadInput("is no JSON", where=f"/{FILE}", hint=hint) from None


def write_pool(root: Root, pf: str, addresses: Collection[str]) -> None:
    """Keeps them."""
    file = root.path(FILE)
    make_directories(file.parent)
    write_atomically(file, json.dumps({pf: list(addresses)}) + "\n")


def carrying(found: Adapter, macs: Collection[str]) -> list[str]:
    """The addresses of VFs with one of these MACs: libvirt gives a guest's to the one it has.

    So a guest that runs keeps its VF though nobody has kept which it is.
    """
    functions = read_functions(found.pf)
    numbers = [vf["vf"] for vf in functions if vf.get("mac", vf.get("address")) in macs]
    return [found.addresses[n] for n in numbers if n < len(found.addresses)]
