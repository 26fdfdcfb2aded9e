"""The virtual functions of a storage server's adapter: as many as it has guests, never reset.

Writing 0 to `sriov_numvfs` takes every VF away, and hangs as long as a guest holds one; the kernel
takes another number only after 0 (drivers/pci/iov.c, sriov_numvfs_store: EBUSY). So a number
that is large enough stays, and one that is too small is changed only while nobody has a VF.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from vas_core.errors import BadInput, FoundDifferent, NotHere
from vas_core.root import Root

_GUESTS = "vfio-pci"
_FUNCTION = "virtfn"


@dataclass(frozen=True)
class Adapter:
    """What sysfs says of a PF: how many VFs it has and could have, and those that are in use.

    In use is one that a guest has, or whose interface is up on the host. `addresses` are the PCI
    addresses of all, by their numbers.
    """

    pf: str
    most: int
    count: int
    used: tuple[str, ...]
    addresses: tuple[str, ...] = ()
    up: bool = False
    """Whether the PF's own interface is up: storage's traffic may be on it."""


@dataclass(frozen=True)
class Step:
    """A file of sysfs below the adapter, and what is written to it, because of `why`."""

    file: str
    value: str
    why: str


def steps(found: Adapter, wished: int) -> list[Step]:
    """What makes at least `wished` VFs of it. Pure.

    Raises NotHere if it cannot have so many, BadInput while somebody has one.
    """
    if found.count >= wished:
        return []
    if found.most < wished:
        hint = "turn SR-IOV on in the firmware of server and adapter"
        what = f"can have {found.most} virtual functions, {wished} are wished"
        raise NotHere(what, where=found.pf, hint=hint)
    if found.used:
        hint = f"shut the guests down that have {', '.join(found.used)}, and run it again"
        what = f"has {found.count} virtual functions, {wished} are wished, and some are in use"
        raise BadInput(what, where=found.pf, hint=hint)
    away = [Step("sriov_numvfs", "0", "another number is taken only after 0")]
    return [
        # Else a driver of the host's makes an interface of each VF.
        Step("sriov_drivers_autoprobe", "0", "VFs are for guests"),
        *(away if found.count else []),
        Step("sriov_numvfs", str(wished), "one for each guest"),
    ]


def pool(found: Adapter, wished: int, ours: Collection[str]) -> tuple[str, ...]:
    """The addresses of the VFs that are the guests' of the map, `wished` at least. Pure.

    They are of `ours`, those that have been theirs before, and of such as nobody uses. One that a
    guest has stays though the map has fewer guests now. Raises BadInput if they are too few.
    """
    used = {found.addresses[int(name.removeprefix(_FUNCTION))] for name in found.used}
    mine = [one for one in found.addresses if one in ours]
    kept = [one for one in mine if one in used]
    others = [one for one in found.addresses if one not in used]
    free = sorted(others, key=lambda one: one not in mine)
    chosen = kept + free[: max(0, wished - len(kept))]
    if len(chosen) < wished:
        hint = f"end the use of {', '.join(sorted(used.difference(mine)))}, and run it again"
        what = f"{len(chosen)} virtual functions are VAS's or free, {wished} are wished"
        raise BadInput(what, where=found.pf, hint=hint)
    return tuple(sorted(chosen, key=found.addresses.index))


def read_adapter(root: Root, pf: str) -> Adapter:
    """What sysfs says. Raises NotHere for an interface that is not there, or has no SR-IOV."""
    device = _device(pf)
    if root.read(f"sys/class/net/{pf}/address") is None:
        hint = "see nics.pf in the map, and `ip link`"
        raise NotHere("no such interface", where=pf, hint=hint)
    most = root.read(f"{device}/sriov_totalvfs")
    if most is None:
        hint = "turn SR-IOV and the IOMMU on in the firmware, or name another adapter in the map"
        raise NotHere("has no SR-IOV", where=pf, hint=hint)
    names = [name for name in root.names(device) if name.startswith(_FUNCTION)]
    names.sort(key=lambda name: int(name.removeprefix(_FUNCTION)))
    used = tuple(name for name in names if _is_used(root, f"{device}/{name}"))
    links = (root.link(f"{device}/{name}") for name in names)
    addresses = tuple(link.name if link else "" for link in links)
    count = int(root.read(f"{device}/sriov_numvfs") or 0)
    up = root.read(f"sys/class/net/{pf}/operstate") == "up"
    return Adapter(pf, int(most), count, used, addresses, up)


def make(root: Root, pf: str, wished: int, *, interrupt: bool) -> list[Step]:
    """Makes them so, reads the number back, and says what was written.

    Drivers stop the PF for a moment when its first VFs are made: of one that is up, that is done
    if `interrupt` allows it. Raises BadInput if not, FoundDifferent when the adapter made fewer
    than it was told.
    """
    before = read_adapter(root, pf)
    todo = steps(before, wished)
    if todo and before.up and not interrupt:
        what = "is up: to make virtual functions may interrupt the storage's traffic for a moment"
        hint = "allow it (--interrupt), or restart the server: they come before its network"
        raise BadInput(what, where=pf, hint=hint)
    for step in todo:
        root.path(f"{_device(pf)}/{step.file}").write_text(step.value)
    made = read_adapter(root, pf).count
    if made < wished:
        hint = "see the kernel's log: an IOMMU, or room on the bus, may be missing"
        raise FoundDifferent(f"made {made} of {wished} virtual functions", where=pf, hint=hint)
    return todo


def _device(pf: str) -> str:
    return f"sys/class/net/{pf}/device"


def _is_used(root: Root, function: str) -> bool:
    driver = root.link(f"{function}/driver")
    if driver is not None and driver.name == _GUESTS:
        return True
    return any(
        root.read(f"{function}/net/{name}/operstate") == "up"
        for name in root.names(f"{function}/net")
    )
