"""Writes the draft of a cluster map, with comments, from what client and servers told. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vas_cluster.discover.client import LOOPBACK, SeenClient, SeenServer
from vas_cluster.discover.server import SeenMachine
from vas_core.shown import counted, shown
from vas_core.sizes import format_size

_PLAIN = re.compile(r"[\w./@-]+")
_BRIDGE = "vasbr0"
_GUESTS_SHARE = 0.75
"""Of a server's memory and CPUs, as in the paper (docs/sizing.md)."""

Machines = Sequence[tuple[SeenServer, SeenMachine]]


def draft(client: SeenClient, machines: Machines) -> str:
    """Returns the text of a map. The administrator writes the lines that begin with `# FILL IN`."""
    names = {server.nid: machine.name for server, machine in machines}
    hosts = (line for each in machines for line in _host(*each, names))
    # What a machine said may hold line ends and escapes: each line stays one.
    return "\n".join(map(shown, (*_lustre(client), "hosts:", *hosts, *_yarn()))) + "\n"


def _lustre(client: SeenClient) -> Iterator[str]:
    yield "# Drafted by `vas cluster discover`. Compare each line with the site before it is used."
    yield f"site: {_word(client.fsname)}"
    yield "lustre:"
    yield f"  fsname: {_word(client.fsname)}"
    yield f"  mount: {_word(client.mount)}"
    if client.mgs_nids:
        yield f"  mgs_nids: {_list(client.mgs_nids)}"
    else:
        yield "  # FILL IN mgs_nids: [NID, ...]: this client's mount names no NID"
    yield f"  flock: {client.flock}  # as this client has mounted it"


def _host(server: SeenServer, machine: SeenMachine, names: dict[str, str | None]) -> Iterator[str]:
    yield f"  # The server of OST {', '.join(map(str, sorted(server.osts)))}."
    for reason in machine.unseen:
        yield f"  # Not seen: {reason}"
    yield f"  - osts: {_list(sorted(server.osts))}"
    yield from _address(server)
    yield (
        f"    name: {_word(machine.name)}"
        if machine.name
        else "    # FILL IN name: what `hostname -f` prints there"
    )
    yield from _partner(server, names)
    yield from _nics(machine)
    if machine.devices:
        yield f"    storage_devices: {_list(machine.devices)}"
    else:
        yield "    # FILL IN storage_devices: [DEVICE, ...]: what its OSTs are on"
    yield from _guest(machine)


def _address(server: SeenServer) -> Iterator[str]:
    if server.nid == LOOPBACK:
        yield "    # FILL IN address: this machine's on the data fabric"
        yield "    # FILL IN nids: [NID, ...]: what `lctl list_nids` prints on this machine"
    else:
        yield f"    address: {_word(server.nid.partition('@')[0])}"
        yield f"    nids: {_list([server.nid])}  # add its other NIDs, if it has any"


def _partner(server: SeenServer, names: dict[str, str | None]) -> Iterator[str]:
    others = [nid for nid in server.failover_nids if nid in names]
    if len(others) == 1 and names[others[0]]:
        yield f"    ha_partner: {_word(str(names[others[0]]))}"
    elif others:
        yield f"    # FILL IN ha_partner: one of the servers {', '.join(others)}"


def _nics(machine: SeenMachine) -> Iterator[str]:
    if machine.interface is None:
        yield "    # FILL IN nics: {pf: INTERFACE, vf: INTERFACE, bridge: vasbr0}"
        return
    pf = machine.interface
    if machine.most_vfs:
        yield f"    # The adapter can have {counted(machine.most_vfs, 'virtual function')}."
        yield f"    nics: {{pf: {_word(pf)}, vf: {_word(f'{pf}v0')}, bridge: {_BRIDGE}}}"
    else:
        what = "has no SR-IOV" if machine.most_vfs == 0 else "has unknown virtual functions"
        yield f"    # FILL IN nics: {{pf: {pf}, vf: INTERFACE, bridge: {_BRIDGE}}}: {pf} {what}"


def _guest(machine: SeenMachine) -> Iterator[str]:
    yield "    # FILL IN guests: names, addresses on the fabric and MACs are the site's choice"
    if machine.memory_bytes and machine.cpus:
        share = int(machine.memory_bytes * _GUESTS_SHARE) >> 30
        cpus = counted(machine.cpus, "CPU")
        yield (
            f"    # (this server has {format_size(machine.memory_bytes)} and {cpus}:"
            f" a guest of {share}GiB and {max(1, int(machine.cpus * _GUESTS_SHARE))} vcpus at most)"
        )


def _yarn() -> Iterator[str]:
    yield "yarn:"
    yield "  # FILL IN resourcemanager: {name: NAME, address: ADDRESS}: a machine that is no server"
    yield "  queues:"
    yield "    - {name: default, capacity: 100}"


def _word(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _list(values: Sequence[object]) -> str:
    return "[" + ", ".join(_word(str(value)) for value in values) + "]"
