"""Finds the channels that processes share: pipes, sockets, event counters, shared memory."""

from __future__ import annotations

import os
import re
import socket
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from pyroute2.netlink.diag import UDIAG_SHOW_PEER, DiagSocket
from pyroute2.netlink.exceptions import NetlinkError

from vas_affinity.machine.reading.tasks import read_gone
from vas_affinity.machine.snapshot import Unread
from vas_core.root import Root

_OBJECT = re.compile(r"(pipe|socket):\[(\d+)\]")
_FLAGS = re.compile(r"^flags:\s*([0-7]+)", re.MULTILINE)
_EVENT = re.compile(r"^eventfd-id:\s*(\d+)", re.MULTILINE)
_ACCESS = {os.O_RDONLY: "r", os.O_WRONLY: "w", os.O_RDWR: "rw"}
# A line of maps: addresses, permissions, offset, device, inode and the file's name.
_SHARED = re.compile(r"^\S+ (r[w-])[x-]s \S+ (\S+) ([1-9]\d*)\s*(.*)$", re.MULTILINE)


class ChannelKind(StrEnum):
    """The kind of a channel between processes."""

    PIPE = "pipe"
    UNIX = "unix"
    TCP = "tcp"
    EVENT = "eventfd"
    MEMORY = "shared memory"


@dataclass
class Channel:
    """A pipe, socket, event counter or memory. `holders` is process -> `r`, `w` or `rw`."""

    kind: ChannelKind
    name: str
    holders: dict[int, str] = field(default_factory=dict)


@dataclass
class Channels:
    """The channels of some processes; `by_descriptor` is (process, descriptor) -> channel."""

    all: dict[str, Channel] = field(default_factory=dict)
    by_descriptor: dict[tuple[int, int], Channel] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)

    def hold(self, kind: ChannelKind, name: str, pid: int, access: str) -> Channel:
        """Notes that a process holds a channel, and returns the channel."""
        channel = self.all.setdefault(f"{kind.value} {name}", Channel(kind, name))
        before = channel.holders.get(pid, "")
        channel.holders[pid] = "".join(c for c in "rw" if c in before + access)
        return channel

    def between(self, one: int, other: int) -> list[Channel]:
        """Returns the channels that both processes hold and one of the two can write."""
        return [
            channel
            for channel in self.all.values()
            if one in channel.holders
            and other in channel.holders
            and "w" in channel.holders[one] + channel.holders[other]
        ]


def read_channels(root: Root, pids: Sequence[int]) -> Channels:
    """Reads the channels of these processes. `unread` says which could not be read."""
    found = Channels()
    sockets: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for pid in pids:
        try:
            for number, link in _descriptors(root, pid):
                _hold(root, found, sockets, (pid, number), link)
            _hold_memory(root, found, pid)
        except PermissionError as refused:
            found.unread.append(Unread(what=f"process {pid}: descriptors", why=str(refused)))
    _hold_tcp(root, found, sockets, pids)
    _hold_unix(found, sockets)
    return found


def parse_tcp(text: str) -> dict[int, tuple[str, str]]:
    """Parses /proc/net/tcp: inode -> (local, remote) as the kernel writes them."""
    rows = (line.split() for line in text.splitlines()[1:])
    return {int(row[9]): (row[1], row[2]) for row in rows if len(row) > 9 and row[9] != "0"}


def loopback_pairs(connections: Mapping[int, tuple[str, str]]) -> dict[int, int]:
    """Returns inode -> inode of the other end, for connections with both ends on this host."""
    by_ends = {ends: inode for inode, ends in connections.items()}
    return {
        inode: by_ends[remote, local]
        for inode, (local, remote) in connections.items()
        if by_ends.get((remote, local), inode) != inode
    }


def _descriptors(root: Root, pid: int) -> Iterator[tuple[int, str]]:
    directory = root.path(f"proc/{pid}/fd")
    try:
        numbers = os.listdir(directory)  # noqa: PTH208
    except FileNotFoundError:
        return
    for number in numbers:
        try:
            yield int(number), str((directory / number).readlink())
        except FileNotFoundError:
            continue


def _hold(
    root: Root,
    found: Channels,
    sockets: dict[int, list[tuple[int, int]]],
    holder: tuple[int, int],
    link: str,
) -> None:
    pid, number = holder
    named = _OBJECT.fullmatch(link)
    if named and named[1] == "socket":
        sockets[int(named[2])].append(holder)
    elif named:
        info = _FLAGS.search(read_gone(root, f"proc/{pid}/fdinfo/{number}") or "")
        access = _ACCESS[int(info[1], 8) & os.O_ACCMODE] if info else "rw"
        found.by_descriptor[holder] = found.hold(ChannelKind.PIPE, named[2], pid, access)
    elif link == "anon_inode:[eventfd]":
        event = _EVENT.search(read_gone(root, f"proc/{pid}/fdinfo/{number}") or "")
        if event:
            found.by_descriptor[holder] = found.hold(ChannelKind.EVENT, event[1], pid, "rw")


def _hold_memory(root: Root, found: Channels, pid: int) -> None:
    maps = read_gone(root, f"proc/{pid}/maps") or ""
    for access, device, inode, name in {match.groups() for match in _SHARED.finditer(maps)}:
        found.hold(ChannelKind.MEMORY, f"{name or '?'} ({device} {inode})", pid, access.strip("-"))


def _hold_tcp(
    root: Root,
    found: Channels,
    sockets: Mapping[int, Sequence[tuple[int, int]]],
    pids: Sequence[int],
) -> None:
    connections: dict[int, tuple[str, str]] = {}
    namespaces: set[str] = set()
    for pid in pids:
        try:
            namespace = str(root.path(f"proc/{pid}/ns/net").readlink())
        except OSError:
            continue
        if namespace not in namespaces:
            namespaces.add(namespace)
            for family in ("tcp", "tcp6"):
                text = read_gone(root, f"proc/{pid}/net/{family}") or ""
                connections |= parse_tcp(text)
    _hold_ends(found, ChannelKind.TCP, loopback_pairs(connections), sockets)


def _hold_unix(found: Channels, sockets: Mapping[int, Sequence[tuple[int, int]]]) -> None:
    """Adds UNIX sockets. The kernel tells their other end by netlink only, in our namespace."""
    try:
        with DiagSocket() as diag:
            diag.bind()
            answers = diag.get_sock_stats(family=socket.AF_UNIX, show=UDIAG_SHOW_PEER)
            peers = {a["udiag_ino"]: a.get_attr("UNIX_DIAG_PEER") for a in answers}
    except (OSError, NetlinkError) as refused:
        found.unread.append(Unread(what="ends of UNIX sockets", why=str(refused)))
        return
    _hold_ends(
        found, ChannelKind.UNIX, {one: other for one, other in peers.items() if other}, sockets
    )


def _hold_ends(
    found: Channels,
    kind: ChannelKind,
    peers: Mapping[int, int],
    sockets: Mapping[int, Sequence[tuple[int, int]]],
) -> None:
    for inode, holders in sockets.items():
        other = peers.get(inode)
        if other is not None and other in sockets:
            name = f"{min(inode, other)}-{max(inode, other)}"
            for pid, number in holders:
                found.by_descriptor[pid, number] = found.hold(kind, name, pid, "rw")
