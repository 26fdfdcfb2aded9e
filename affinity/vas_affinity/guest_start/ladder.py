"""The ladder of fallbacks: where the CPUs of a guest that starts come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vas_affinity.apply.plan_file import check_plan, read_plan
from vas_affinity.daemon.inputs import DaemonInputs
from vas_affinity.daemon.saved_state import read_state
from vas_affinity.guest_plan import GuestPlanSettings, GuestRequest, plan_guests
from vas_affinity.guest_plan.storage import storage_cpus
from vas_affinity.guest_start.cpus import ThreadPlaces, places_of
from vas_affinity.guest_start.rung import StartRung
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.guests import vcpus_of_others
from vas_affinity.machine.reading.host import SnapshotRequest, read_snapshot
from vas_affinity.machine.reading.procfs import RunningProcess
from vas_affinity.machine.snapshot import LibvirtGuest, Snapshot
from vas_affinity.machine.topology import MachineTopology
from vas_affinity.placement import HostPlacement
from vas_core.errors import VasError
from vas_core.lastgood import LastGood
from vas_core.root import Root

_SETTINGS = GuestPlanSettings(huge_pages=False)


@dataclass(frozen=True)
class Chosen:
    """The rung that was taken, its CPUs, and why each rung above it was not."""

    rung: StartRung
    places: ThreadPlaces | None
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class StartFiles:
    """The files that plans are looked for in: the daemon's state, PLAN.json, the kept directory."""

    state: Path
    plan: Path
    kept: Path


@dataclass(frozen=True)
class Ladder:
    """Finds CPUs for a guest on a host; `running` are its processes."""

    files: StartFiles
    host: str
    guest: LibvirtGuest
    running: tuple[RunningProcess, ...]
    root: Root

    def choose(self) -> Chosen:
        """Returns the first rung that has CPUs for the guest; whatever fails is a reason."""
        refused: list[str] = []
        for rung, places in self._rungs().items():
            try:
                return Chosen(rung, places(), tuple(refused))
            except Exception as wrong:
                refused.append(f"{rung}: {_words(wrong)}")
        return Chosen(StartRung.NOTHING, None, tuple(refused))

    def _rungs(self) -> dict[StartRung, Callable[[], ThreadPlaces]]:
        return {
            StartRung.IN_FORCE: lambda: self._planned(self._in_force()),
            StartRung.PLAN: lambda: self._planned(read_plan(self.files.plan, self.host)),
            StartRung.LAST_GOOD: lambda: self._planned(self._last_good()),
            StartRung.RULE: self._by_rule,
            StartRung.CPUSET: self._off_storage,
        }

    def _planned(self, plan: HostPlacement) -> ThreadPlaces:
        return places_of(plan, self.guest, self._snapshot.topology.online)

    def _in_force(self) -> HostPlacement:
        state = read_state(self.files.state)
        if state is None or state.in_force is None:
            raise VasError("vas-affinityd has saved none")
        return check_plan(state.in_force, self.host, str(self.files.state))

    def _last_good(self) -> HostPlacement:
        kept = LastGood(self.files.kept, DaemonInputs).read()
        if kept is None:
            raise VasError("none was kept")
        return check_plan(kept[0].plan, self.host, str(self.files.kept))

    def _by_rule(self) -> ThreadPlaces:
        taken = vcpus_of_others(TreeFiles(self.root), self.guest, self.running)
        free = _without(self._snapshot, taken)
        request = GuestRequest(
            name=self.guest.name,
            vcpus=self.guest.vcpus,
            memory_bytes=self.guest.memory_bytes or None,
            iothreads=len(self.guest.iothreads),
        )
        return self._planned(plan_guests(free, [request], _SETTINGS))

    def _off_storage(self) -> ThreadPlaces:
        topology = self._snapshot.topology
        busy = storage_cpus(self._snapshot, _SETTINGS).cpus
        cores = {topology.cpu(cpu).core for cpu in busy}
        left = tuple(cpu for cpu in topology.online if topology.cpu(cpu).core not in cores)
        if not left:
            raise VasError("every core has storage interrupts")
        return ThreadPlaces(left)

    @cached_property
    def _snapshot(self) -> Snapshot:
        return read_snapshot(self.root, name=self.host, asked=SnapshotRequest(guests=False))


def _without(snapshot: Snapshot, taken: frozenset[int]) -> Snapshot:
    """Returns the snapshot of a host that lacks these CPUs."""
    topology = snapshot.topology
    cpus = tuple(
        cpu.model_copy(update={"online": False}) if cpu.number in taken else cpu
        for cpu in topology.cpus
    )
    # Not a copy: that would keep what the topology has computed from all CPUs.
    less = MachineTopology(name=topology.name, cpus=cpus, nodes=topology.nodes)
    if not less.online:
        raise VasError("other guests' vCPUs have all CPUs")
    return snapshot.model_copy(update={"topology": less})


def _words(wrong: Exception) -> str:
    return " ".join(f"{wrong or type(wrong).__name__}".split())
