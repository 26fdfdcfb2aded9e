"""Makes the virtual functions of a storage server's adapter, one per guest; never resets one.

Writing 0 to `sriov_numvfs` takes every VF away, and hangs as long as a guest holds one; the kernel
takes another number only after 0 (drivers/pci/iov.c, sriov_numvfs_store: EBUSY). So a sufficient
number stays, and one that is too small is changed only while no VF is in use.
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
    """A PF by sysfs: how many VFs it has and could have, and which are in use.

    A VF is in use if a guest has it, or if its interface is up on the host. `addresses` are the PCI
    addresses of all VFs, by their numbers.
    """

    pf: str
    most: int
    count: int
    used: tuple[str, ...]
    addresses: tuple[str, ...] = ()
    up: bool = False
    """The PF's own interface is up: it may carry the storage's traffic."""


@dataclass(frozen=True)
class SysfsWrite:
    """A value to write to a sysfs file below the adapter, and the reason."""

    file: str
    value: str
    why: str


def steps(found: Adapter, wanted: int) -> list[SysfsWrite]:
    """Returns the writes that make at least `wanted` VFs; none if there are enough. Pure.

    Raises NotHere if the adapter cannot have so many, BadInput while a VF is in use.
    """
    if found.count >= wanted:
        return []
    if found.most < wanted:
        hint = "turn SR-IOV on in the firmware of server and adapter"
        what = f"virtual functions: it can have {found.most}, and needs {wanted}"
        raise NotHere(what, where=found.pf, hint=hint)
    if found.used:
        hint = f"shut the guests down that have {', '.join(found.used)}, and run it again"
        what = f"virtual functions: it has {found.count}, some in use, and needs {wanted}"
        raise BadInput(what, where=found.pf, hint=hint)
    away = [SysfsWrite("sriov_numvfs", "0", "another number is taken only after 0")]
    return [
        # Else a driver of the host's makes an interface of each VF.
        SysfsWrite("sriov_drivers_autoprobe", "0", "VFs are for guests"),
        *(away if found.count else []),
        SysfsWrite("sriov_numvfs", str(wanted), "one for each guest"),
    ]


def pool(found: Adapter, wanted: int, ours: Collection[str]) -> tuple[str, ...]:
    """Chooses the addresses of the VFs for the map's guests, at least `wanted`. Pure.

    Takes VFs of `ours`, which belonged to the guests before, and unused ones. A VF that a guest has
    stays even if the map has fewer guests now. Raises BadInput if they are too few.
    """
    used = {found.addresses[int(name.removeprefix(_FUNCTION))] for name in found.used}
    mine = [one for one in found.addresses if one in ours]
    kept = [one for one in mine if one in used]
    others = [one for one in found.addresses if one not in used]
    free = sorted(others, key=lambda one: one not in mine)
    chosen = kept + free[: max(0, wanted - len(kept))]
    if len(chosen) < wanted:
        hint = f"end the use of {', '.join(sorted(used.difference(mine)))}, and run it again"
        what = f"virtual functions: {len(chosen)} are VAS's or free, {wanted} are needed"
        raise BadInput(what, where=found.pf, hint=hint)
    return tuple(sorted(chosen, key=found.addresses.index))


def read_adapter(root: Root, pf: str) -> Adapter:
    """Reads an adapter from sysfs. Raises NotHere if it does not exist or has no SR-IOV."""
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


def make(root: Root, pf: str, wanted: int, *, interrupt: bool) -> list[SysfsWrite]:
    """Makes at least `wanted` VFs, reads the number back, and returns what was written.

    Drivers stop the PF for a moment when its first VFs are made. Raises BadInput if the PF is
    up and `interrupt` does not allow that, or a VF is in use; NotHere if the adapter cannot
    have so many; FoundDifferent if it made fewer; OSError if the kernel refuses the write.
    """
    before = read_adapter(root, pf)
    todo = steps(before, wanted)
    if todo and before.up and not interrupt:
        what = "is up: to make virtual functions may interrupt the storage's traffic for a moment"
        hint = "allow it (--interrupt), or restart the server: they come before its network"
        raise BadInput(what, where=pf, hint=hint)
    for step in todo:
        root.path(f"{_device(pf)}/{step.file}").write_text(step.value)
    made = read_adapter(root, pf).count
    if made < wanted:
        hint = "see the kernel's log: an IOMMU, or room on the bus, may be missing"
        raise FoundDifferent(f"virtual functions: made {made} of {wanted}", where=pf, hint=hint)
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
