"""The daemon's loop around a node that cannot be made: it goes on with the last good one."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Iterator
from concurrent.futures import Future
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from site_map import site

from vas_core.errors import BadInput, VasError
from vas_core.inforce import InForce
from vas_core.lastgood import LastGood
from vas_routing.daemon import loop
from vas_routing.daemon.announce import Announcer
from vas_routing.daemon.inputs import Inputs
from vas_routing.daemon.keyring import Keyring
from vas_routing.daemon.keys import Keys
from vas_routing.daemon.legsocket import Endpoint
from vas_routing.daemon.metrics import RouteMetrics
from vas_routing.links import Leg
from vas_routing.settings import RouteSettings

OLD, NEW = "0a" * 32, "0b" * 32


class FakeNode:
    """A node whose interface may be gone; it notes which keys it was made with."""

    missing = False
    made: ClassVar[list[FakeNode]] = []

    def __init__(self, node: Any, choices: Any, keys: Keys, resources: Any, saved: Any) -> None:
        if FakeNode.missing:
            raise VasError("no such interface here", where="vf0")
        self.keys, self.is_open = keys, 0
        self.here = SimpleNamespace(peers=())
        self.detector = SimpleNamespace(drained=frozenset(), evaluate=lambda now: [])
        FakeNode.made.append(self)

    def open(self) -> None:
        self.is_open += 1

    def apply(self, now: float) -> None:
        pass

    def saved_state(self) -> Any:
        return SimpleNamespace(drained=frozenset())

    def drain(self, legs: Any, now: float) -> None:
        pass


class FakeEvents:
    """A subscription to a kernel that tells nothing."""

    def __init__(self) -> None:
        self._ours, self._kernels = socket.socketpair()
        self.protocol = 0

    def fileno(self) -> int:
        return self._ours.fileno()


class Site:
    """A daemon, its key's file, and what its log and metrics say."""

    def __init__(self, directory: Path) -> None:
        self.key = directory / "route.key"
        self.write_key(OLD)
        self.metrics = RouteMetrics()
        cluster = site()
        self.inputs = Inputs(name="vm1", cluster=cluster, settings=RouteSettings())
        kept = LastGood(directory / "kept", Inputs)
        told = InForce(
            lambda: self.inputs, [], kept, self.metrics.map, self.metrics.reloads, loop.log
        )
        announcer = Announcer(lambda device, frame: None, lambda device: bytes(6))
        keyring = Keyring(self.key, self.metrics)
        self.daemon = loop.RouteDaemon(told, keyring, directory / "state", announcer, self.metrics)

    def write_key(self, key: str) -> None:
        self.key.write_text(key)
        self.key.chmod(0o600)

    def take(self, refused: bool) -> None:
        """Has the daemon take a reading of the map, which is bad if `refused`."""
        reading: Future[Inputs] = Future()
        if refused:
            reading.set_exception(BadInput("site: is missing", where="cluster.yaml"))
        else:
            reading.set_result(self.inputs)
        self.daemon._take(reading)

    @property
    def live(self) -> Any:
        return self.daemon._live

    @property
    def key_refused(self) -> float | None:
        return self.metrics.registry.get_sample_value("vas_route_key_refused")


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(loop, "LiveNode", FakeNode)
    monkeypatch.setattr(loop, "Events", FakeEvents)
    monkeypatch.setattr(FakeNode, "missing", False)
    monkeypatch.setattr(FakeNode, "made", [])
    site = Site(tmp_path)
    yield site
    site.daemon._reader.shutdown()


def test_H7_a_bad_map_a_new_key_and_no_interface_end_no_daemon(
    running: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    good = running.live
    running.write_key(NEW)
    monkeypatch.setattr(FakeNode, "missing", True)
    with caplog.at_level(logging.ERROR, logger="vas-routed"):
        running.take(refused=True)
    assert running.live is good and good.is_open > 1
    assert running.key_refused == 1
    (line,) = (r for r in caplog.records if r.message == "the key of before holds")
    assert line.__dict__["what"].endswith("route.key: not in force: vf0: no such interface here")


def test_H7_the_new_key_is_in_force_once_the_interface_is_back(
    running: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    running.write_key(NEW)
    monkeypatch.setattr(FakeNode, "missing", True)
    running.take(refused=True)
    monkeypatch.setattr(FakeNode, "missing", False)
    running.take(refused=True)
    assert running.live.keys.keys == (bytes.fromhex(NEW),)
    assert running.key_refused == 0
    assert len(FakeNode.made) == 2


def test_H7_a_reader_that_keeps_its_priority_still_reads(
    running: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The kernel may refuse the usual priority to the thread that reads the map."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    running.daemon._reader.shutdown()
    running.daemon._reader = loop.map_reader()
    with caplog.at_level(logging.WARNING, logger="vas-routed"):
        running.daemon._read_again()
        assert running.daemon._reading is not None
        running.daemon._take(running.daemon._reading)
    assert [r.message for r in caplog.records] == ["the map is read at real-time priority"]
    assert len(FakeNode.made) == 2


def test_H7_a_bad_map_alone_makes_no_node_again(running: Site) -> None:
    good = running.live
    running.take(refused=True)
    assert running.live is good and len(FakeNode.made) == 1
    running.take(refused=False)
    assert running.live is not good and len(FakeNode.made) == 2


@pytest.mark.parametrize("wrong", ["is gone", "others may use it"])
def test_S2_a_key_that_cannot_be_read_any_more_stays_in_force_with_an_alarm(
    running: Site, wrong: str
) -> None:
    if wrong == "is gone":
        running.key.unlink()
    else:
        running.key.chmod(0o644)
    running.take(refused=False)
    assert running.live.keys.keys == (bytes.fromhex(OLD),)
    assert running.key_refused == 1
    signed = running.metrics.registry.get_sample_value("vas_route_probes_signed")
    assert signed == 1


@pytest.mark.machine
def test_H1_S2_the_loop_opens_what_is_not_open_and_counts_what_the_kernel_dropped(
    running: Site,
) -> None:
    index, address = socket.if_nametoindex("lo"), ip_address("127.0.0.1")
    sockets = running.daemon._resources.sockets
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        sockets.want({Leg.VIRTIO: Endpoint(index, address, port, "lo")})
        assert sockets.get(Leg.VIRTIO) is None
    running.daemon._now_and_then(1.0)
    assert sockets.get(Leg.VIRTIO) is not None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as user:
        user.sendto(b"from a port that is not the probes'", ("127.0.0.1", port))
    running.daemon._now_and_then(2.0)
    sockets.want({})
    labels = {"reason": "dropped"}
    name = "vas_route_probes_refused_total"
    assert running.metrics.registry.get_sample_value(name, labels) == 1
