"""Places guests' memory on the nodes of their vCPUs. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from vas_affinity.guest_plan.guest_cores import GuestCores
from vas_affinity.guest_plan.request import GuestRequest
from vas_affinity.guest_plan.settings import GuestPlanSettings
from vas_affinity.machine.topology import MachineTopology
from vas_affinity.placement import GuestCell, GuestMemory
from vas_core.errors import BadInput
from vas_core.sizes import format_size

_MIB, _GIB = 1 << 20, 1 << 30
_PER_VCPU_BYTES = _GIB  # what the paper's test bed gave a container, and a core runs one


@dataclass
class NodeMemory:
    """The memory that each node can still give to guests; nodes without CPUs (HBM, DAX) give none.

    `left` is node -> bytes; `notes` say where a guest's memory is not as near as it should be.
    """

    topology: MachineTopology
    settings: GuestPlanSettings
    notes: list[str] = field(default_factory=list)
    left: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        with_cpus = {cpu.node for cpu in self.topology.cpus if cpu.online}
        share = 1 - self.settings.oss_memory_share
        nodes = [node for node in self.topology.nodes if node.memory_bytes]
        here = [node for node in nodes if node.number in with_cpus or with_cpus == {None}]
        self.left = {node.number: int(node.memory_bytes * share) for node in here}

    def homes(self, request: GuestRequest) -> frozenset[int]:
        """Returns the nodes each of which can hold all of the guest's memory."""
        wanted = request.memory_bytes or request.vcpus * _PER_VCPU_BYTES
        return frozenset(node for node, left in self.left.items() if left >= wanted)

    def give(self, guest: GuestCores) -> tuple[GuestMemory, tuple[GuestCell, ...]]:
        """Takes a guest's memory from its vCPUs' nodes, and from the nearest if those lack it.

        The returned cells are empty for a guest on one node, and if a node lacks its share. Raises
        BadInput if the host does not have enough memory left.
        """
        name, nodes = guest.request.name, guest.nodes or tuple(sorted(self.left))
        wanted = self._wanted(guest.request, nodes)
        page = self._page(name, wanted, nodes)
        cells = _cells(guest, wanted, page or 2 * _MIB)
        shares = {cell.node: cell.memory_bytes for cell in cells}
        if not self.left:
            self._say(name, "the nodes' memory is not known, and was not checked")
        elif shares and all(self.left.get(node, 0) >= size for node, size in shares.items()):
            self._take(shares)
        else:
            gathered = self._gather(name, nodes, wanted)
            page, cells = (page if gathered == nodes else None), ()
            nodes = gathered
        self._say_reserved(name, wanted, page, nodes)
        memory = GuestMemory(guest=name, nodes=nodes, memory_bytes=wanted, page_bytes=page)
        return memory, cells if len(cells) > 1 else ()

    def _wanted(self, request: GuestRequest, nodes: tuple[int, ...]) -> int:
        if request.memory_bytes is not None:
            return request.memory_bytes
        wanted, why = request.vcpus * _PER_VCPU_BYTES, "1 GiB a vCPU"
        space = sum(self.left.get(node, 0) for node in nodes) // (2 * _MIB) * 2 * _MIB
        if self.left and wanted > space > 0:
            wanted, why = space, "what its nodes can give"
        self._say(request.name, f"no memory was asked for: {format_size(wanted)}, {why}")
        return wanted

    def _page(self, name: str, wanted: int, nodes: tuple[int, ...]) -> int | None:
        """Chooses 1 GiB pages if enough are reserved, else 2 MiB or the next size; or None."""
        tables = [node.huge_pages for node in self.topology.nodes if node.number in nodes]
        if not self.settings.huge_pages:
            return None
        sizes = sorted(set.intersection(*map(set, tables))) if tables else []
        fit = sorted((s for s in sizes if wanted % s == 0), key=lambda s: (s < 2 * _MIB, s))
        reserved = sum(table.get(_GIB, 0) for table in tables) * _GIB
        if _GIB in fit and reserved >= wanted:
            return _GIB
        if not fit:
            known = ", ".join(map(format_size, sizes)) or "not known here"
            self._say(name, f"no huge pages: {format_size(wanted)} in sizes {known}")
        return fit[0] if fit else None

    def _gather(self, name: str, nodes: tuple[int, ...], wanted: int) -> tuple[int, ...]:
        """Takes memory node by node, from the vCPUs' nodes first, then from the nearest."""
        space = sum(self.left.get(node, 0) for node in nodes)
        others = sorted(set(self.left) - set(nodes), key=lambda n: (self._distance(n, nodes), n))
        if wanted > space + sum(self.left[node] for node in others):
            over = format_size(wanted - space - sum(self.left[node] for node in others))
            share = f"{self.settings.oss_memory_share:.0%}"
            hint = f"give it less: the storage server keeps {share} of each node's"
            raise BadInput(
                f"its memory is {over} more than the host has left", where=name, hint=hint
            )
        used = list(nodes)
        for node in others:
            if sum(self.left.get(n, 0) for n in used) < wanted:
                used.append(node)
        if used != list(nodes):
            over, where = format_size(wanted - space), ", ".join(map(str, nodes))
            self._say(
                name,
                f"its memory is {over} more than node {where} has left: it spans nodes "
                f"{', '.join(map(str, sorted(used)))}, without huge pages",
            )
        self._take(self._in_turn(used, wanted))
        return tuple(sorted(used))

    def _in_turn(self, nodes: list[int], wanted: int) -> dict[int, int]:
        shares: dict[int, int] = {}
        for node in nodes:
            shares[node] = min(self.left.get(node, 0), wanted - sum(shares.values()))
        return shares

    def _take(self, shares: dict[int, int]) -> None:
        for node, size in shares.items():
            self.left[node] = self.left.get(node, 0) - size

    def _distance(self, node: int, homes: tuple[int, ...]) -> int:
        tables = [n.distances for n in self.topology.nodes if n.number == node]
        return min((t[home] for t in tables for home in homes if home in t), default=255)

    def _say_reserved(
        self, name: str, wanted: int, page: int | None, nodes: tuple[int, ...]
    ) -> None:
        if page is None:
            return
        tables = [node.huge_pages for node in self.topology.nodes if node.number in nodes]
        there, needed = sum(table.get(page, 0) for table in tables), wanted // page
        if there < needed:
            where = ", ".join(map(str, nodes))
            what = f"{needed} pages of {format_size(page)}, and node {where} has {there} reserved"
            self._say(name, f"it needs {what}: reserve them before it starts, as the script does")

    def _say(self, name: str, what: str) -> None:
        self.notes.append(f"{name}: {what}")


def _cells(guest: GuestCores, wanted: int, unit: int) -> tuple[GuestCell, ...]:
    """Returns a cell for each node of the vCPUs, with their share of memory in whole units."""
    node_of = {cpu: core.node for core in guest.cores for cpu in core.cpus}
    homes = [node_of[cpu] for cpu in guest.vcpus]
    nodes = [node for node in dict.fromkeys(homes) if node is not None]
    sizes = [wanted * homes.count(node) // len(homes) // unit * unit for node in nodes]
    if nodes:
        sizes[-1] += wanted - sum(sizes)
    if 0 in sizes:
        return ()
    return tuple(
        GuestCell(
            node=node,
            vcpus=tuple(vcpu for vcpu, home in enumerate(homes) if home == node),
            memory_bytes=size,
        )
        for node, size in zip(nodes, sizes, strict=True)
    )
