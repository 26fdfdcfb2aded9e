"""Steers packets on a site: drains one leg, so that the running `vas-routed` uses the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_cluster import Cluster
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.process import run
from vas_routing.calibrate.steering import RouteCommands, ask
from vas_routing.drained import read_drained
from vas_routing.links import Leg
from vas_routing.observe import devices, legs

_SETTLE_SECONDS = 60.0  # longer than a path is held down after it is back


@dataclass(frozen=True)
class OnSite:
    """The guest that this machine is, and the nodes that it measures to."""

    cluster: Cluster
    source: str
    destinations: tuple[str, ...]
    state: Path
    vas: RouteCommands

    def check(self) -> None:
        """Raises VasError if a leg is drained already: the measurement would put it back into
        use."""
        drained = read_drained(self.state)
        if drained:
            hint = " and ".join(f"`vas route drain {leg} --undo`" for leg in sorted(drained))
            raise VasError("a leg is drained", where=self.source, hint=f"{hint} first")

    def reach(self, argv: Sequence[str]) -> list[str]:
        """Returns the command line unchanged, as the guest is this machine."""
        return list(argv)

    def commands(self, leg: Leg | None) -> list[list[str]]:
        """Returns the commands that put `leg` back into use and drain the other; None: use
        both."""
        if leg is None:
            return [self._drain(other, "--undo") for other in Leg]
        other = Leg.SRIOV if leg is Leg.VIRTIO else Leg.VIRTIO
        return [self._drain(leg, "--undo"), self._drain(other)]

    def settle(self, leg: Leg | None) -> None:
        """Waits until the kernel takes `leg` to every destination; None: the switcher's own leg.

        Raises VasError after 60 seconds.
        """

        def seen() -> dict[str, Leg | None]:
            return {to: self.path(to) for to in self.destinations}

        def as_wanted(paths: dict[str, Leg | None]) -> bool:
            return all(path is leg for path in paths.values())

        if leg is not None:
            poll(seen, as_wanted, _SETTLE_SECONDS, f"vas-routed to go by {leg} alone")
        else:
            poll(self._differ, lambda wrong: not wrong, _SETTLE_SECONDS, "vas-routed to be back")

    def path(self, destination: str) -> Leg | None:
        """Returns the leg that the kernel takes to a node; None without a route. Raises VasError if
        `vas route explain` cannot be run."""
        return ask(self._explain(destination))

    def devices(self) -> dict[Leg, str]:
        """Returns the interfaces that have the MACs of the map."""
        mine = legs(self.cluster, self.source, devices())
        return {Leg.VIRTIO: mine.virtio_name, Leg.SRIOV: mine.sriov_name}

    def _differ(self) -> list[str]:
        """The destinations where the kernel does not take the desired leg."""
        return [to for to in self.destinations if run(self._explain(to), check=False).status]

    def _explain(self, destination: str) -> list[str]:
        return self.vas.line(["explain", destination, "--json"], self.source, self.state)

    def _drain(self, leg: Leg, *options: str) -> list[str]:
        return self.vas.line(["drain", leg, *options], self.source, self.state)
