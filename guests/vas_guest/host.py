"""The edge: a storage server's libvirt, told of a guest and asked for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as Xml

from vas_cluster import Cluster, Guest
from vas_cluster import Host as MapHost
from vas_core.errors import BadInput, VasError
from vas_core.files import make_directories
from vas_core.polling import poll
from vas_core.seed import read_seed, write_seed
from vas_core.virsh import virsh
from vas_core.xmltree import parse_xml
from vas_guest import disks as disks_of
from vas_guest.compare import Difference, differences
from vas_guest.devices import refuse_foreign
from vas_guest.domain import console_file, domain, guest_uuid, seed_file, to_text
from vas_guest.network import has, network, network_name, network_uuid
from vas_guest.seed import seed_files
from vas_guest.settings import GuestSettings

_THERE = "there"
_ANSWERS, _ENDED = "answers", "ended"
_CONSOLE_CHARS = 2000
_ENDING_SECONDS = 120


@dataclass(frozen=True)
class Wish:
    """A guest as the map, the settings and the placement have it."""

    cluster: Cluster
    map_text: str
    guest: Guest
    settings: GuestSettings
    placement: Xml.Element | None = None
    functions: tuple[str, ...] = ()
    """The PCI addresses of its host's VFs, of which it gets one."""
    image: Path | None = None
    """What its first disk is made of, where that is not there."""

    @property
    def uuid(self) -> str:
        """Its identity."""
        return guest_uuid(self.cluster, self.guest)

    @property
    def host(self) -> MapHost:
        """The storage server that it is on."""
        host = self.cluster.host_by_guest(self.guest.name)
        assert host is not None, "a guest of the map has a host"
        return host

    @property
    def domain(self) -> Xml.Element:
        """Its domain."""
        return domain(self.cluster, self.guest, self.settings, self.placement)

    @property
    def network(self) -> Xml.Element | None:
        """The pool that its VF comes from, if it has one."""
        if not self.settings.virtual_function:
            return None
        return network(self.cluster, self.host, self.functions)

    @property
    def neighbours(self) -> set[str]:
        """The UUIDs of its host's guests, its own too."""
        return {guest_uuid(self.cluster, guest) for guest in self.host.guests}

    @property
    def seed(self) -> dict[str, str]:
        """Its seed's files."""
        return seed_files(self.cluster, self.map_text, self.guest, self.settings)

    @property
    def seed_file(self) -> Path:
        """Where its seed lies."""
        return Path(seed_file(self.guest, self.settings))


@dataclass(frozen=True)
class Host:
    """The libvirt at a connection URI; None is virsh's own default."""

    uri: str | None = None

    def differences(self, wish: Wish) -> list[Difference]:
        """What is not as wished: disks, pool, seed, definition; not what of it runs already."""
        disks = [Difference(disk.path, _THERE, None) for disk in disks_of.lacking(wish.guest)]
        return [*disks, *self._network(wish), *self._seed(wish), *self._domain(wish)]

    def is_there(self, wish: Wish) -> bool:
        """Whether it is defined, or has a seed."""
        return wish.uuid in self._listed("list", "--all") or wish.seed_file.exists()

    def is_running(self, wish: Wish) -> bool:
        """Whether the guest runs, or has not quite ended: until then nothing of it is free."""
        return wish.uuid in self._listed("list")

    def apply(self, wish: Wish) -> list[Difference]:
        """Makes and defines what differs, and reads it back; returns what was changed.

        A running guest goes on as it is: its new definition counts from its next start. Raises
        VasError if libvirt did not take a part of the definition, BadInput if another guest has
        the name.
        """
        self.refuse_disks(wish)
        found = self.differences(wish)
        if not found:
            return []
        self._refuse_a_stranger(wish)
        _refuse_without_functions(wish)
        text = to_text(wish.domain)  # what is wrong with it is said before anything is changed
        list(disks_of.make(wish.guest, wish.image))
        if self._network(wish):
            self._define_network(wish)
        if self._seed(wish):
            # QEMU's user reaches its seed, and lists nobody else's.
            make_directories(wish.seed_file.parent, mode=0o711)
            write_seed(wish.seed_file, wish.seed)
        if self._domain(wish):
            self._do("define", "/dev/stdin", stdin=text)
        if left := self.differences(wish):
            first = left[0]
            what = f"libvirt did not take {first.where}: wished {first.wished}, has {first.found}"
            raise VasError(what, where=wish.guest.name)
        return found

    def refuse_disks(self, wish: Wish) -> None:
        """Raises BadInput for a disk of the guest's that is somebody else's file or device."""
        disks_of.refuse_osts(wish.host, wish.guest)
        disks_of.refuse_others(wish.guest, self._others(wish))
        paths = [disk.path for disk in wish.guest.disks]
        refuse_foreign(paths, wish.settings, self._sources(wish))

    def start(self, wish: Wish) -> None:
        """Starts the guest, now and with its host, unless it runs.

        Raises VasError if one that is about to end does not.
        """
        self._do("autostart", wish.uuid)
        self._await_end(wish)
        if not self.is_running(wish):
            if wish.network is not None:
                self._start_network(wish)
            self._do("start", wish.uuid)

    def _await_end(self, wish: Wish) -> None:
        """One whose system has gone is "in shutdown" until QEMU has given its memory back."""
        if self.is_running(wish):
            poll(
                lambda: self._do("domstate", wish.uuid).strip(),
                lambda state: state != "in shutdown",
                _ENDING_SECONDS,
                f"{wish.guest.name} to end",
            )

    def restart(self, wish: Wish, timeout_seconds: float) -> None:
        """Shuts the guest down, if it runs, and starts it with its present definition.

        Raises VasError if it does not shut down in that time; then it still runs.
        """
        if self.is_running(wish):
            self._do("shutdown", wish.uuid)
            poll(
                lambda: self.is_running(wish),
                lambda runs: not runs,
                timeout_seconds,
                f"{wish.guest.name} to shut down",
            )
        self.start(wish)

    def await_agent(self, wish: Wish, timeout_seconds: float) -> None:
        """Waits until the guest has started: until its guest agent answers.

        Raises VasError with the end of its console if it does not, or ends before.
        """
        name = wish.guest.name
        try:
            poll(
                lambda: self._agent(wish),
                lambda seen: seen in (_ANSWERS, _ENDED),
                timeout_seconds,
                f"the agent of {name}",
            )
        except VasError as late:
            raise VasError(f"{late.what}{_console_end(wish)}", where=name) from None
        if not self.is_running(wish):
            raise VasError(f"ended before its agent answered{_console_end(wish)}", where=name)

    def _agent(self, wish: Wish) -> str:
        try:
            self._do("qemu-agent-command", wish.uuid, json.dumps({"execute": "guest-ping"}))
        except VasError as silent:
            return silent.what if self.is_running(wish) else _ENDED
        return _ANSWERS

    def remove(self, wish: Wish) -> bool:
        """Forgets a guest that is shut down, its seed and what it printed; its disks stay.

        False if none was there. Raises BadInput while it runs.
        """
        there = self.is_there(wish)
        if there and self.is_running(wish):
            hint = f"shut it down first: virsh shutdown {wish.guest.name}"
            raise BadInput("runs", where=wish.guest.name, hint=hint)
        if wish.uuid in self._listed("list", "--all"):
            self._do("undefine", wish.uuid, "--nvram")
        self._remove_network(wish)
        wish.seed_file.unlink(missing_ok=True)
        console = Path(console_file(wish.guest, wish.settings))
        for log in console.parent.glob(f"{console.name}*"):  # virtlogd keeps older ones
            log.unlink()
        return there

    def _refuse_a_stranger(self, wish: Wish) -> None:
        for uuid, name in self._names():
            if name == wish.guest.name and uuid != wish.uuid:
                hint = "undefine or rename that one; it is none of VAS's"
                raise BadInput(f"is defined with another UUID, {uuid}", where=name, hint=hint)

    def _network(self, wish: Wish) -> list[Difference]:
        wished = wish.network
        if wished is None:
            return []
        name = network_name(wish.host)
        if name not in self._listed("net-list", "--all", "--name"):
            return [Difference(f"/network[{name}]", _THERE, None)]
        found, wants = self._pool(name, "--inactive"), has(wished)
        return [] if found == wants else [Difference(f"/network[{name}]/forward", wants, found)]

    def _define_network(self, wish: Wish) -> None:
        assert wish.network is not None
        self._do("net-define", "/dev/stdin", stdin=to_text(wish.network))
        self._do("net-autostart", network_name(wish.host))
        self._start_network(wish)

    def _start_network(self, wish: Wish) -> None:
        """Has it active as it is defined. While a guest has a VF of it, it stays as it is."""
        name = network_name(wish.host)
        if name in self._listed("net-list", "--name"):
            active = parse_xml(self._do("net-dumpxml", name), where=name)
            if active.get("connections") or has(active) == self._pool(name, "--inactive"):
                return
            self._do("net-destroy", name)
        self._do("net-start", name)

    def _remove_network(self, wish: Wish) -> None:
        """With the last guest of the host: the pool is of no use any more."""
        if not wish.settings.virtual_function or wish.neighbours & set(
            self._listed("list", "--all")
        ):
            return
        uuid = network_uuid(wish.cluster, wish.host)
        if uuid in self._listed("net-list", "--uuid"):
            self._do("net-destroy", uuid)
        if uuid in self._listed("net-list", "--all", "--uuid"):
            self._do("net-undefine", uuid)

    def _pool(self, name: str, *options: str) -> str:
        return has(parse_xml(self._do("net-dumpxml", name, *options), where=name))

    def _seed(self, wish: Wish) -> list[Difference]:
        where = str(wish.seed_file)
        if not wish.seed_file.exists():
            return [Difference(where, _THERE, None)]
        found = read_seed(wish.seed_file)
        return [
            Difference(f"{where}:{name}", text, found.get(name))
            for name, text in wish.seed.items()
            if found.get(name) != text
        ]

    def _domain(self, wish: Wish) -> list[Difference]:
        if wish.uuid not in self._listed("list", "--all"):
            return [Difference(f"/domain[{wish.guest.name}]", _THERE, None)]
        text = self._do("dumpxml", wish.uuid, "--inactive")
        return differences(wish.domain, parse_xml(text, where=f"virsh dumpxml {wish.uuid}"))

    def _sources(self, wish: Wish) -> list[str]:
        """Files and devices of the disks that it has been defined with."""
        if wish.uuid not in self._listed("list", "--all"):
            return []
        return [*self._disks(self._dump(wish.uuid, "--inactive"))]

    def _others(self, wish: Wish) -> dict[str, list[str]]:
        """Those of every other virtual machine, by its name: as it is defined, and as it runs."""
        active = self._listed("list")
        found: dict[str, list[str]] = {}
        for uuid, name in self._names():
            # One with the guest's name is refused for that.
            if uuid != wish.uuid and name != wish.guest.name:
                told = [self._dump(uuid, "--inactive")]
                told += [self._dump(uuid)] if uuid in active else []
                found[name] = [path for one in told for path in self._disks(one)]
                found[name] += [path for one in told for path in self._bases(one)]
        return found

    def _dump(self, uuid: str, *options: str) -> Xml.Element:
        return parse_xml(self._do("dumpxml", uuid, *options), where=f"virsh dumpxml {uuid}")

    def _disks(self, machine: Xml.Element) -> Iterator[str]:
        """Files and devices of its disks, and of what libvirt says they are based on."""
        for source in machine.iterfind("devices/disk//source"):
            if path := self._path(source):
                yield path

    def _bases(self, machine: Xml.Element) -> Iterator[str]:
        """Of what else they are based on."""
        for disk in machine.iterfind("devices/disk"):
            source, driver = disk.find("source"), disk.find("driver")
            path = None if source is None else self._path(source)
            if path and driver is not None:
                yield from disks_of.bases(path, driver.get("type", "raw"))

    def _path(self, source: Xml.Element) -> str | None:
        return source.get("dev") or source.get("file") or self._volume(source)

    def _volume(self, source: Xml.Element) -> str | None:
        """Where a volume of one of libvirt's own pools is; None where libvirt has no such pool."""
        pool, volume = source.get("pool"), source.get("volume")
        if pool is None or volume is None:
            return None
        if pool not in self._listed("pool-list", "--all", "--name"):
            return None
        text = self._do("pool-dumpxml", pool)
        path = parse_xml(text, where=f"virsh pool-dumpxml {pool}").findtext("target/path")
        return f"{path}/{volume}" if path else None

    def _names(self) -> list[tuple[str, str]]:
        lines = self._do("list", "--all", "--uuid", "--name").splitlines()
        rows = (line.split(maxsplit=1) for line in lines if line.strip())
        return [(uuid, name.strip()) for uuid, name in rows]

    def _listed(self, *words: str) -> list[str]:
        words = (*words, "--uuid") if words[0] == "list" else words
        return [line.strip() for line in self._do(*words).splitlines() if line.strip()]

    def _do(self, *words: str, stdin: str | None = None) -> str:
        return virsh(self.uri, *words, stdin=stdin)


def _refuse_without_functions(wish: Wish) -> None:
    if wish.settings.virtual_function and not wish.functions:
        hint = "run `vas guest vfs` on its server first"
        raise BadInput("has no virtual functions for guests", where=wish.host.nics.pf, hint=hint)


def _console_end(wish: Wish) -> str:
    file = Path(console_file(wish.guest, wish.settings))
    try:
        said = file.read_bytes()[-_CONSOLE_CHARS:].decode(errors="replace")
    except OSError as unread:
        said = str(unread)
    return f"; {file} ends with:\n{said}"
