"""Follows interfaces that were renamed: their parameters and addresses moved along with them.

The journal names the original values by the interface's name. So it has an entry with the
interface's index as well, which stays the same until the interface is gone or the machine restarts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vas_core.journal import Journal, JournalEntry

SYSCTL, ADDRESS, _DEVICE = "sysctl:", "address:", "device:"
_DEVICE_AT = 3  # net/ipv4/conf/DEVICE/rp_filter


def indices(targets: Iterable[str], index_of: Mapping[str, int]) -> dict[str, str]:
    """Returns new journal entries (target -> index) for the interfaces that `targets` belong to.

    Targets of an interface that is gone are left out.
    """
    names = {_device(target) for target in targets}
    return {_DEVICE + name: str(index_of[name]) for name in names if name in index_of}


def moved(entries: Iterable[JournalEntry], name_of: Mapping[int, str]) -> dict[str, str]:
    """Returns old target -> new target for each entry whose interface has another name now."""
    entries = list(entries)
    new = {}
    for entry in entries:
        if entry.target.startswith(_DEVICE) and entry.original:
            old, name = entry.target.removeprefix(_DEVICE), name_of.get(int(entry.original))
            if name not in (None, old):
                new[old] = str(name)
    targets = (entry.target for entry in entries if _device(entry.target) in new)
    return {target: _renamed(target, new[_device(target)]) for target in targets}


def follow(journal: Journal, name_of: Mapping[int, str]) -> None:
    """Updates a journal to the names that interfaces have now (index -> name). Raises OSError."""
    journal.rename(moved(journal.pending_rollback(), name_of))


def followed(entries: Iterable[JournalEntry], name_of: Mapping[int, str]) -> list[JournalEntry]:
    """Returns the entries as `follow` would have them; the journal stays as it is."""
    entries = list(entries)
    new = moved(entries, name_of)
    arrived = set(new.values())
    kept = (entry for entry in entries if entry.target in new or entry.target not in arrived)
    return [e.model_copy(update={"target": new.get(e.target, e.target)}) for e in kept]


def orphans(entries: Iterable[JournalEntry]) -> list[str]:
    """Returns the targets of index entries whose interface has no other entry any more."""
    targets = [entry.target for entry in entries]
    used = {_device(target) for target in targets if not target.startswith(_DEVICE)}
    return [t for t in targets if t.startswith(_DEVICE) and _device(t) not in used]


def _device(target: str) -> str:
    if target.startswith(SYSCTL):
        parts = target.split("/")
        return parts[_DEVICE_AT] if len(parts) > _DEVICE_AT else ""
    return target.split(":")[1]


def _renamed(target: str, name: str) -> str:
    if target.startswith(SYSCTL):
        parts = target.split("/")
        return "/".join([*parts[:_DEVICE_AT], name, *parts[_DEVICE_AT + 1 :]])
    kind, _, rest = target.split(":", 2) if target.startswith(ADDRESS) else (_DEVICE[:-1], "", "")
    return f"{kind}:{name}:{rest}" if rest else f"{kind}:{name}"
