"""Which probes are believed, without any network: signatures, replays, restarts, keys."""

from __future__ import annotations

import os
import time
from itertools import pairwise
from pathlib import Path

import pytest

from vas_core.errors import BadInput
from vas_routing.daemon.keys import Keys, read_keys
from vas_routing.daemon.saved_state import SRIOV, SavedState
from vas_routing.daemon.trust import HeardProbe, Refusal, Trust, trusted
from vas_routing.links import Leg, PathState

OLD, NEW = bytes(range(32)), bytes(32)
UP = {"sriov": PathState.UP, "virtio": PathState.UP}
DOWN = {"sriov": PathState.DOWN, "virtio": PathState.DOWN}


def pair(a: Keys, b: Keys) -> tuple[Trust, Trust]:
    return Trust("oss1", a, 1.0), Trust("vm1", b, 1.0)


def believed(found: HeardProbe | Refusal) -> bool:
    return isinstance(found, HeardProbe) and found.believed


def met(host: Trust, guest: Trust, leg: Leg = Leg.VIRTIO) -> bytes:
    """The host asks, the guest answers, and is believed; returns the answer."""
    asked = guest.verify(leg, "oss1", host.ask(leg, "vm1", **UP))
    assert isinstance(asked, HeardProbe)
    answer = guest.answer(leg, "oss1", asked.probe, **UP)
    assert believed(host.verify(leg, "vm1", answer))
    return answer


def test_S2_an_answer_is_believed_once_and_by_its_leg_alone() -> None:
    host, guest = pair(Keys((OLD,)), Keys((OLD,)))
    asked = guest.verify(Leg.VIRTIO, "oss1", host.ask(Leg.VIRTIO, "vm1", **UP))
    assert isinstance(asked, HeardProbe)
    answer = guest.answer(Leg.VIRTIO, "oss1", asked.probe, **UP)
    assert host.verify(Leg.SRIOV, "vm1", answer) is Refusal.SIGNATURE
    assert host.verify(Leg.VIRTIO, "vm4", answer) is Refusal.SIGNATURE
    assert guest.verify(Leg.VIRTIO, "oss1", answer) is Refusal.SIGNATURE, "sent back"
    assert believed(host.verify(Leg.VIRTIO, "vm1", answer))
    again = host.verify(Leg.VIRTIO, "vm1", answer)
    assert isinstance(again, HeardProbe) and again.refusal is Refusal.STALE


@pytest.mark.parametrize("at", range(56))
def test_S2_one_flipped_bit_is_refused(at: int) -> None:
    host, guest = pair(Keys((OLD,)), Keys((OLD,)))
    data = bytearray(met(host, guest))
    data[at] ^= 0x04
    assert not believed(host.verify(Leg.VIRTIO, "vm1", bytes(data)))


def test_S2_what_is_told_needs_an_echo_of_this_daemon() -> None:
    """A guest's word counts as soon as it has heard this host; not what it said to the last one."""
    host, guest = pair(Keys((OLD,)), Keys((OLD,)))
    first = guest.ask(Leg.VIRTIO, "oss1", **DOWN)
    assert not believed(host.verify(Leg.VIRTIO, "vm1", first))
    met(host, guest)
    asked = host.ask(Leg.VIRTIO, "vm1", **UP)
    assert believed(guest.verify(Leg.VIRTIO, "oss1", asked)), "the host has heard the guest"
    told = guest.ask(Leg.VIRTIO, "oss1", **DOWN)
    restarted = Trust("oss1", host.keys, 1.0)
    assert not believed(restarted.verify(Leg.VIRTIO, "vm1", told))
    assert believed(host.verify(Leg.VIRTIO, "vm1", told))


def test_S2_a_daemon_that_ended_is_not_heard_again() -> None:
    """Its last word, kept by somebody, would be as new as that of the daemon after it."""
    host, guest = pair(Keys((OLD,)), Keys((OLD,)))
    met(host, guest)
    guest.verify(Leg.VIRTIO, "oss1", host.ask(Leg.VIRTIO, "vm1", **UP))
    kept = guest.ask(Leg.VIRTIO, "oss1", **DOWN)
    met(host, Trust("vm1", guest.keys, 1.0))
    heard = host.verify(Leg.VIRTIO, "vm1", kept)
    assert isinstance(heard, HeardProbe) and heard.refusal is Refusal.STALE


def test_S2_what_comes_late_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    host, guest = pair(Keys((OLD,)), Keys((OLD,)))
    met(host, guest)
    guest.verify(Leg.VIRTIO, "oss1", host.ask(Leg.VIRTIO, "vm1", **UP))
    kept = guest.ask(Leg.VIRTIO, "oss1", **DOWN)
    later = time.monotonic_ns() + 1_100_000_000
    monkeypatch.setattr(time, "monotonic_ns", lambda: later)
    heard = host.verify(Leg.VIRTIO, "vm1", kept)
    assert isinstance(heard, HeardProbe) and heard.refusal is Refusal.STALE


def test_S2_an_older_word_by_the_other_leg_is_not_taken() -> None:
    host, guest = pair(Keys((OLD,)), Keys((OLD,)))
    met(host, guest)
    guest.verify(Leg.VIRTIO, "oss1", host.ask(Leg.VIRTIO, "vm1", **UP))
    slow, fast = guest.ask(Leg.SRIOV, "oss1", **DOWN), guest.ask(Leg.VIRTIO, "oss1", **UP)
    newer = host.verify(Leg.VIRTIO, "vm1", fast)
    older = host.verify(Leg.SRIOV, "vm1", slow)
    assert isinstance(newer, HeardProbe) and isinstance(older, HeardProbe)
    assert older.believed, "it is no replay: that leg works"
    assert not host.is_newest("vm1", older.probe) and host.is_newest("vm1", newer.probe)


def test_S2_a_key_is_brought_to_every_node_before_it_is_used() -> None:
    """[old], then [old, new] everywhere, then [new, old], then [new]: nobody is refused."""
    steps = [Keys((OLD,)), Keys((OLD, NEW)), Keys((NEW, OLD)), Keys((NEW,))]
    for before, after in pairwise(steps):
        assert trusted(before) & trusted(after)
        for a, b in ((before, after), (after, before)):
            met(*pair(a, b))


def test_S2_without_a_key_one_is_answered_and_not_believed() -> None:
    host, guest = pair(Keys((OLD,)), Keys())
    asked = host.verify(Leg.VIRTIO, "vm1", guest.ask(Leg.VIRTIO, "oss1", **UP))
    assert isinstance(asked, HeardProbe) and asked.refusal is Refusal.UNSIGNED
    answer = host.answer(Leg.VIRTIO, "vm1", asked.probe, **UP)
    assert believed(guest.verify(Leg.VIRTIO, "oss1", answer)), "who has no key takes any"
    asked = guest.verify(Leg.VIRTIO, "oss1", host.ask(Leg.VIRTIO, "vm1", **UP))
    assert isinstance(asked, HeardProbe)
    unsigned = guest.answer(Leg.VIRTIO, "oss1", asked.probe, **UP)
    assert host.verify(Leg.VIRTIO, "vm1", unsigned) is Refusal.UNSIGNED


def test_S2_who_answered_by_another_wire_or_key_is_not_missed() -> None:
    """But a path that is dead is not trusted until somebody answers by it."""
    pairs = frozenset({(Leg.SRIOV, "oss2"), (Leg.VIRTIO, "vm1"), (Leg.VIRTIO, "vm4")})
    paths = {SRIOV: PathState.UP, "vm1": PathState.DOWN, "vm4": PathState.UP}
    memory = SavedState(heard=pairs, paths=paths)
    assert memory.heard_by(trusted(Keys((OLD,)))) == {(Leg.VIRTIO, "vm1")}
    known = memory.model_copy(update={"trusted": trusted(Keys((OLD,)))})
    assert known.heard_by(trusted(Keys((NEW, OLD)))) == pairs
    assert known.heard_by(trusted(Keys((NEW,)))) == {(Leg.VIRTIO, "vm1")}


def keyfile(directory: Path, text: str, mode: int = 0o600) -> Path:
    file = directory / "route.key"
    file.write_text(text)
    file.chmod(mode)
    return file


def test_S2_keys_are_read(tmp_path: Path) -> None:
    assert not read_keys(tmp_path / "none")
    assert read_keys(keyfile(tmp_path, f"{OLD.hex()}\n{NEW.hex()}\n")).keys == (OLD, NEW)


SECRET = "5ec2e7" * 10


@pytest.mark.parametrize(
    ("text", "mode", "wrong"),
    [
        (f"{OLD.hex()}\n", 0o640, "others may use it"),
        (f"{OLD.hex()}\n", 0o604, "others may use it"),
        ("", 0o600, "has no key"),
        (f"{OLD.hex()}\n{SECRET}\n", 0o600, "word 2 is not a key"),
        (f"{SECRET}zz", 0o600, "word 1 is not a key"),
    ],
)
def test_S2_a_file_that_is_not_a_key_is_refused(
    tmp_path: Path, text: str, mode: int, wrong: str
) -> None:
    with pytest.raises(BadInput, match=wrong) as refused:
        read_keys(keyfile(tmp_path, text, mode))
    assert SECRET not in str(refused.value) and OLD.hex() not in str(refused.value)


def test_S2_no_link_fifo_or_directory_is_a_key(tmp_path: Path) -> None:
    file = keyfile(tmp_path, OLD.hex())
    (tmp_path / "link").symlink_to(file)
    os.mkfifo(tmp_path / "fifo", 0o600)
    for name in ("link", "fifo", "."):
        with pytest.raises(BadInput):
            read_keys(tmp_path / name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_S2_a_key_of_another_user_is_refused(tmp_path: Path) -> None:
    file = keyfile(tmp_path, OLD.hex())
    os.chown(file, 12345, -1)
    with pytest.raises(BadInput, match="belongs to user 12345, who knows the key"):
        read_keys(file)


def test_S2_a_key_is_in_no_message_of_a_debugger() -> None:
    assert OLD.hex() not in repr(Keys((OLD,))) and repr(OLD) not in repr(Keys((OLD,)))
