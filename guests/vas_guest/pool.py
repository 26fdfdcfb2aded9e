"""Records, across boots, which virtual functions of a storage server belong to the map's guests."""

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
    """Returns the PCI addresses of the guests' VFs of a PF; empty if none were ever chosen.

    They are read from /var/lib/vas/vfs.json. Raises BadInput if that file is not JSON.
    """
    text = root.read(FILE)
    try:
        return tuple(json.loads(text or "{}").get(pf, ()))
    except ValueError:
        hint = "remove it, and run `vas guest vfs`"
        raise BadInput("is not JSON", where=f"/{FILE}", hint=hint) from None


def write_pool(root: Root, pf: str, addresses: Collection[str]) -> None:
    """Records the PCI addresses of the guests' VFs of a PF in /var/lib/vas/vfs.json.

    Raises OSError where the file cannot be written.
    """
    file = root.path(FILE)
    make_directories(file.parent)
    write_atomically(file, json.dumps({pf: list(addresses)}) + "\n")


def carrying(found: Adapter, macs: Collection[str]) -> list[str]:
    """Returns the addresses of the VFs with one of these MACs, which libvirt sets for its guests.

    So a running guest keeps its VF even if nothing recorded which one it is. Raises
    CommandFailed if `ip` fails, NotHere without it.
    """
    functions = read_functions(found.pf)
    numbers = [vf["vf"] for vf in functions if vf.get("mac", vf.get("address")) in macs]
    return [found.addresses[n] for n in numbers if n < len(found.addresses)]
