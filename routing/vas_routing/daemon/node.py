"""Turns the states of a node's paths into routes, and tells peers and the network of a switch."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from vas_core.errors import VasError
from vas_routing import observe
from vas_routing.daemon.detector import Detector, SwitchCause, Timing
from vas_routing.daemon.events import LinkChange
from vas_routing.daemon.keys import Keys
from vas_routing.daemon.legsocket import Endpoint
from vas_routing.daemon.prober import Prober, who_is_asked, who_may_ask
from vas_routing.daemon.resources import DaemonResources
from vas_routing.daemon.saved_state import SRIOV, SavedState
from vas_routing.daemon.switch import Switch
from vas_routing.daemon.trust import Trust, trusted
from vas_routing.desired import DesiredState, Proxy
from vas_routing.links import Leg, NodeLinks, PathState
from vas_routing.node import RoutedNode
from vas_routing.plan import ChangeKind, RouteChange
from vas_routing.policy import Choices, place

log = logging.getLogger("vas-routed")
_GRACE = 4
"""Detection times after a start or reload in which silence alone makes no path dead."""
_LEAST_WINDOW_SECONDS = 1.0
"""For how long at least an echo is new: a busy node takes its time to answer."""


class LiveNode:
    """A node as one reading of the map describes it; a reload makes another from its saved state.

    Raises VasError if its interfaces do not fit the map; then nothing was changed. The probes'
    sockets belong to the node of the reading before until `open`.
    """

    def __init__(
        self,
        node: RoutedNode,
        choices: Choices,
        keys: Keys,
        resources: DaemonResources,
        saved: SavedState,
    ) -> None:
        self._node, self._choices, self._resources = node, choices, resources
        self.keys = keys
        found = observe.devices()
        self.legs = observe.legs(node.cluster, node.name, found, saved.devices)
        self._fabric = self.legs.fabric or saved.fabric
        links = observe.links(self.legs, fabric=self._fabric)
        self.here = place(node.cluster, node.name, links)
        self._asked = who_is_asked(node.cluster, self.here, node.kernel.settings.neighbours)
        self._trusted = trusted(keys)
        self.detector = self._detector(saved)
        self._peers_sriov = dict(self.detector.peers_sriov)
        self._ports: dict[int, str] = {}
        self._carriers = observe.Carriers()
        self._switch = Switch(node)
        window = max(_LEAST_WINDOW_SECONDS, _GRACE * self._timing.detect)
        self.prober = Prober(
            detector=self.detector,
            asked=self._asked,
            names=who_may_ask(node.cluster, self.here),
            trust=Trust(node.name, keys, window),
            sockets=resources.sockets,
            refusals=resources.refusals,
            own_sriov=self._told_sriov,
            rtt=resources.metrics.observe_rtt,
        )

    @property
    def interval(self) -> float:
        """Seconds between two probes."""
        return self._timing.interval

    @property
    def _timing(self) -> Timing:
        settings = self._node.kernel.settings
        return Timing(
            interval=settings.probe_interval_ms / 1e3,
            misses=settings.probe_misses,
            hold_down=settings.hold_down_ms / 1e3,
        )

    def open(self) -> None:
        """Takes over the probes' sockets: opens, or keeps, one for each leg that is there."""
        addresses = {Leg.SRIOV: self.here.me.address, Leg.VIRTIO: self.here.me.hop.ip}
        devices = {Leg.SRIOV: self.legs.sriov, Leg.VIRTIO: self.legs.virtio}
        port = self._node.kernel.settings.probe_port
        wanted = {
            leg: Endpoint(device.index, addresses[leg], port, device.name)
            for leg, device in devices.items()
            if device
        }
        self._resources.sockets.want(wanted)
        names = {leg: endpoint.device for leg, endpoint in wanted.items()}
        self._resources.metrics.observe_interfaces(names)

    def _detector(self, saved: SavedState) -> Detector:
        timing = self._timing
        peers = tuple(peer.name for peer in self.here.peers)
        found = Detector(timing, peers, self._witnesses())
        found.started = time.monotonic() + _GRACE * timing.detect
        found.carrier = {leg: self.legs.has_carrier(leg) for leg in Leg}
        found.heard_before(saved.heard_by(self._trusted))
        found.peers_sriov = {p: s for p, s in saved.peers_sriov.items() if p in peers}
        for name, state in saved.paths.items():
            found.path(name or None).state = state
        return found

    def _witnesses(self) -> frozenset[str]:
        """Everybody who is asked by SR-IOV, but a host's own guests: where only they are silent,
        their VF is as likely broken as the host's PF, and the host has to carry them."""
        asked = frozenset(self._asked[Leg.SRIOV])
        peers = frozenset(peer.name for peer in self.here.peers)
        return asked - peers if self.here.me.is_host else asked

    def saved_state(self) -> SavedState:
        """Returns the states of the paths, for the node that follows this one."""
        paths = {SRIOV: self.detector.path(None).state}
        paths |= {peer: self.detector.path(peer).state for peer in self.detector.peers}
        return SavedState(
            fabric=self._fabric,
            paths=paths,
            peers_sriov=dict(self.detector.peers_sriov),
            heard=self.detector.heard,
            trusted=self._trusted,
            devices=self.legs.indices,
            drained=self.detector.drained,
        )

    def save(self) -> None:
        """Writes the states of the paths to disk for the next daemon; logs a failure."""
        try:
            self.saved_state().write(self._node.state)
        except OSError as wrong:
            self._resources.metrics.failures.inc()
            log.error("the paths cannot be kept for a restart", extra={"what": str(wrong)})

    def _told_sriov(self) -> PathState:
        """The leg is reported up only after the network was told whose its address is again:
        until then the host forwards, and would stop too early."""
        if self._resources.announcer.is_announcing(self.here.me.address):
            return PathState.DOWN
        return self.detector.path(None).state

    def drain(self, legs: frozenset[Leg], now: float) -> None:
        """Takes these legs out of use and puts all others back into use."""
        if legs != self.detector.drained:
            self.detector.drained = legs
            self.evaluate(now)
            self.apply(now)

    def on_link_change(self, change: LinkChange) -> bool:
        """Takes over a change of an interface; returns whether it may concern the node's own
        legs."""
        leg = self._leg_of(change)
        if leg is not None:
            self.detector.carrier[leg] = change.carrier
        elif peer := self._ports.get(change.index):
            bridge = self.legs.virtio
            plugged = change.carrier and bridge is not None and change.master == bridge.index
            (self.detector.unplugged.discard if plugged else self.detector.unplugged.add)(peer)
        # While a leg is missing, whatever comes may be it.
        return leg is not None or len(self.legs.indices) < len(Leg)

    def _leg_of(self, change: LinkChange) -> Leg | None:
        """The leg is known by its index: it may have another name now, and another may have its
        name."""
        legs = {index: leg for leg, index in self.legs.indices.items()}
        return legs.get(change.index)

    def watch_carriers(self) -> None:
        """Notices legs that lost their carrier. The kernel notifies of carriers that are back."""
        for leg, device in ((Leg.SRIOV, self.legs.sriov), (Leg.VIRTIO, self.legs.virtio)):
            if device and self.detector.carrier[leg]:
                self.detector.carrier[leg] = self._carriers.has(device.index)

    def _learn_ports(self) -> None:
        """Notes which port of the bridge leads to which guest, to know it when the port goes
        down."""
        if not self.here.me.is_host:
            return
        behind = observe.bridge_ports()
        learnt = {behind[mac]: peer for peer, mac in self.legs.macs.items() if mac in behind}
        for port, peer in learnt.items():
            if self._ports.get(port) != peer:
                # A guest that was started again has a new port; only the old one is gone.
                self.detector.unplugged.discard(peer)
        others = {port: peer for port, peer in self._ports.items() if peer not in learnt.values()}
        self._ports = others | learnt

    def refresh(self) -> None:
        """Reads the interfaces again, after one came, went, or changed.

        Raises VasError if they do not fit the map.
        """
        before, found = self.legs, observe.devices()
        self.legs = observe.legs(self._node.cluster, self._node.name, found, before.indices)
        self._switch.forget()
        self._fabric = self.legs.fabric or self._fabric
        self.detector.carrier = {leg: self.legs.has_carrier(leg) for leg in Leg}
        self.here = place(self._node.cluster, self._node.name, self.links())
        self.open()
        self._tell_renames(before)

    def _tell_renames(self, before: observe.Legs) -> None:
        both = ((before.sriov, self.legs.sriov), (before.virtio, self.legs.virtio))
        for was, now in both:
            if was and now and was.index == now.index and was.name != now.name:
                self._resources.announcer.rename(was.name, now.name)
                log.warning("renamed", extra={"interface": now.name, "was": was.name})

    def evaluate(self, now: float) -> None:
        """Switches routes if a path changed, or if a peer's report of its SR-IOV leg did."""
        before, self._peers_sriov = self._peers_sriov, dict(self.detector.peers_sriov)
        changed = self.detector.evaluate(now)
        for peer in changed:
            self._note(peer, now)
        if changed or before != self._peers_sriov:
            self.apply(now, changed)

    def apply(self, now: float, changed: Iterable[str | None] = ()) -> None:
        """Applies the desired state to the kernel, and tells peers and the network.

        A change that the kernel refuses is logged and counted.
        """
        desired = self._desired_state()
        if desired is None:
            log.error("no path is up: nothing is touched")
        elif self._make(desired, None in changed, now):
            self._measure(desired)
            self.prober.ask(now)
        # Last: packets are not to wait for a disk. A daemon that is killed before it only has to
        # find out again.
        self.save()

    def _make(self, desired: DesiredState, sriov_changed: bool, now: float) -> bool:
        try:
            changes = self._switch.make(desired)
        except Exception as refused:  # an interface may come or go while the kernel is read
            self._refused(refused)
            return False
        self._announce(changes, sriov_changed, now)
        return True

    def check(self) -> None:
        """Restores routes, rules and settings that others changed; logs what was refused."""
        self._learn_ports()
        desired = self._desired_state()
        if desired is None:
            return
        try:
            drift = self._switch.check(desired)
        except Exception as refused:  # an interface may come or go while the kernel is read
            self._refused(refused)
            return
        self._resources.metrics.drift.inc(len(drift))
        if drift:
            log.warning("put right", extra={"things": len(drift), "first": str(drift[0].thing)})

    def _refused(self, wrong: Exception) -> None:
        self._resources.metrics.failures.inc()
        known = isinstance(wrong, VasError)
        what = str(wrong) if known else f"{type(wrong).__name__}: {wrong}"
        log.error("refused", extra={"what": what}, exc_info=None if known else wrong)

    def _desired_state(self) -> DesiredState | None:
        return self._node.desired_state(self.links(), self._choices)

    def links(self) -> NodeLinks:
        """Returns the node's paths with the states that the detector has for them."""
        return observe.links(
            self.legs,
            self.detector.drained,
            fabric=self._fabric,
            sriov=self.detector.path(None).state,
            virtio={peer: self.detector.path(peer).state for peer in self.detector.peers},
            peers_sriov=self.detector.peers_sriov,
        )

    def _announce(self, changes: Iterable[RouteChange], sriov_changed: bool, now: float) -> None:
        announcer, me = self._resources.announcer, self.here.me.address
        for change in changes:
            if isinstance(change.thing, Proxy):
                if change.action is ChangeKind.ADD:
                    announcer.announce(change.thing.address, change.thing.device, now)
                else:
                    announcer.forget(change.thing.address)
        if sriov_changed and self.detector.path(None).state is PathState.UP:
            announcer.announce(me, self.here.sriov, now)
        announcer.run(now)

    def _note(self, peer: str | None, now: float) -> None:
        path = self.detector.path(peer)
        name = _name_of(peer)
        outage = self.detector.silence(peer, now) if path.state is PathState.DOWN else None
        self._resources.metrics.switches.labels(name, path.state, path.cause).inc()
        if outage is not None and path.cause is not SwitchCause.DRAINED:
            self._resources.metrics.outage.observe(outage)
        extra = {"path": name, "state": path.state, "cause": path.cause}
        if outage is not None:
            extra["last_heard_ms"] = f"{outage * 1e3:.0f}"
        log.warning("path", extra=extra)

    def _measure(self, desired: DesiredState) -> None:
        metrics, links = self._resources.metrics, self.links()
        by_virtio = {str(route.destination.network_address) for route in desired.routes}
        metrics.observe_path(Leg.SRIOV, "", links.sriov)
        for name in (None, *(peer.name for peer in self.here.peers)):
            metrics.expect_switches(_name_of(name))
        for peer in self.here.peers:
            metrics.observe_path(Leg.VIRTIO, peer.name, links.virtio[peer.name])
            used = Leg.VIRTIO if str(peer.address) in by_virtio else Leg.SRIOV
            metrics.observe_use(peer.name, used)


def _name_of(peer: str | None) -> str:
    """Returns what the log and the metrics call the path to a peer; None is the SR-IOV leg."""
    return f"virtio to {peer}" if peer else "sriov"
