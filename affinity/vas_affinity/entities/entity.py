"""An entity: whatever a plan places as one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vas_affinity.machine.snapshot import Interrupt, Thread


class EntityKind(StrEnum):
    """The kind of an entity. Those of threads have the values of `ThreadRole`."""

    VCPU = "vcpu"
    """A guest's virtual core: one vCPU, or those that the guest sees as siblings."""
    EMULATOR = "emulator"
    IOTHREAD = "iothread"
    VHOST = "vhost"
    STORAGE = "storage"
    SERVICE = "service"
    INTERRUPT = "interrupt"
    RESERVE = "reserve"
    """A core that is kept for the storage server or for the host's other work."""


@dataclass(frozen=True, kw_only=True)
class Entity:
    """A thread, a virtual core, an interrupt or a reserved core.

    `members` are the keys of the threads that it stands for. `use` is its CPU use, 1.0 for a whole
    CPU, None if not known. Entities of different `team`s must not share a core. `cpu` is where it
    is today, None if not known. `thread` or `line` is what was seen of it.
    """

    key: str
    kind: EntityKind
    members: tuple[str, ...] = ()
    use: float | None = None
    team: str = ""
    guest: str | None = None
    device: str | None = None
    cpu: int | None = None
    thread: Thread | None = None
    line: Interrupt | None = None


def entity_of(thread: Thread, team: str = "") -> Entity:
    """Returns the entity of a thread that was seen."""
    return Entity(
        key=thread.key,
        kind=EntityKind(thread.role.value),
        members=(thread.key,),
        use=thread.cpu,
        team=team,
        guest=thread.guest,
        device=thread.device,
        cpu=thread.last_cpu,
        thread=thread,
    )
