"""vas-shuffled with TLS between the nodes of the lab's real YARN: what goes over their network.

A program on one node looks at its packets: of the same sort's rows it sees some where the daemons
have no certificates, and none where they have.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from vas_cluster import parse_cluster
from vas_core.errors import VasError
from vas_core.process import run as run_program
from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions, read_site
from vas_tests.shuffle_runs import digests, generate_rows, run
from vas_tests.shuffled import PROGRAM, WITH_DAEMON
from vas_yarn.profiles import NODE_SHUFFLE, STOCK_SHUFFLE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not PROGRAM.exists(), reason="vas-shuffled is not built"),
]

_PORT = 13563
_SORT = {"mapreduce.job.reduces": "4"}
_DEMANDED = {"mapreduce.shuffle.ssl.enabled": "true"}
# Counts the packets from or to the daemons' port, and those with the four bytes that stand in the
# middle of each of TeraGen's rows. Prints that it has begun; at the end of its input, the counts.
_WATCH = f"""
import select, socket, sys
rows = bytes([0x88, 0x99, 0xAA, 0xBB])
packets = with_rows = 0
with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800)) as wire:
    print("begun", flush=True)
    while True:
        ready, _, _ = select.select([wire, sys.stdin], [], [])
        if sys.stdin in ready:
            break
        packet = wire.recv(65536)
        end = 4 * (packet[0] & 15)
        ports = packet[end:end + 4]
        if packet[9] == 6 and ({_PORT}).to_bytes(2, "big") in (ports[:2], ports[2:]):
            packets += 1
            with_rows += rows in packet
print(packets, with_rows)
"""


@dataclass(frozen=True)
class SeenPackets:
    """Numbers of packets of the daemons that a node saw: all, and those with a row in clear."""

    all: int
    with_rows: int


def certificates(directory: Path, names: list[str]) -> dict[str, str]:
    """Makes an authority and one certificate for all nodes; returns the NodeManagers' keys."""
    made = {name: directory / f"{name}.pem" for name in ("authority", "certificate", "key")}
    signer, request, uses = (directory / name for name in ("signer.pem", "request.pem", "uses"))
    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    alternative = ",".join(f"DNS:{name}" for name in names)
    uses.write_text(f"subjectAltName={alternative}\nextendedKeyUsage=serverAuth,clientAuth\n")
    ca = ("-x509", "-days", "2", "-subj", "/CN=lab authority", "-keyout", signer)
    run_program(["openssl", "req", *new_key, *ca, "-out", made["authority"]])
    leaf = ("-subj", "/CN=lab node", "-keyout", made["key"], "-out", request)
    run_program(["openssl", "req", *new_key, *leaf])
    sign = ("-CA", made["authority"], "-CAkey", signer, "-CAcreateserial", "-days", "2")
    words = ("openssl", "x509", "-req", "-in", request, *sign, "-extfile", uses)
    run_program([*words, "-out", made["certificate"]])
    made["key"].chmod(0o600)
    return {
        "vas.shuffled.tls.certificate": str(made["certificate"]),
        "vas.shuffled.tls.key": str(made["key"]),
        "vas.shuffled.tls.authorities": str(made["authority"]),
    }


@contextmanager
def lab_with(name: str, keys: dict[str, str]) -> Iterator[Lab]:
    """A lab whose NodeManagers run the daemon with these keys, and rows to sort."""
    settings = {"vas.shuffled.port": str(_PORT), "vas.shuffled.patience": "5s"}
    properties = WITH_DAEMON | keys | settings
    state = REPOSITORY / "build" / "lab" / name
    with Lab.start(LabOptions(state_dir=state, hosts=4, properties=properties), tied=True) as lab:
        generate_rows(lab, 200_000, maps=4)
        yield lab


@pytest.fixture
def with_tls(tmp_path: Path) -> Iterator[Lab]:
    cluster = parse_cluster(read_site(LabOptions(state_dir=tmp_path, hosts=4)), "lab")
    names = [guest.name for guest in cluster.guests()]
    with lab_with("jbs-tls", certificates(tmp_path, names)) as lab:
        yield lab


@contextmanager
def watching(lab: Lab, seen: list[SeenPackets]) -> Iterator[None]:
    """Watches a node's packets during the body, and adds what was seen to `seen`."""
    node = lab.spec.cluster.guests()[0].name
    argv = lab.enter([sys.executable, "-c", _WATCH], node=node)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(argv, text=True, **pipes) as watch:  # type: ignore[call-overload]
        assert watch.stdout.readline() == "begun\n"
        yield
        told, _ = watch.communicate("\n")
    seen.append(SeenPackets(*map(int, told.split())))


def seen_in_a_sort(lab: Lab, name: str, conf: Mapping[str, str]) -> SeenPackets:
    seen: list[SeenPackets] = []
    with watching(lab, seen):
        run(lab, ("terasort", "/shuffle/in/rows"), name, _SORT | NODE_SHUFFLE | conf)
    return seen[0]


def test_with_certificates_no_row_goes_over_the_network_in_clear(with_tls: Lab) -> None:
    run(with_tls, ("terasort", "/shuffle/in/rows"), "stock", _SORT | STOCK_SHUFFLE)
    for name, conf in (("usual", {}), ("demanded", _DEMANDED)):
        found = seen_in_a_sort(with_tls, name, conf)
        assert found.all > 100
        assert found.with_rows == 0
        assert digests(with_tls, name) == digests(with_tls, "stock")


def test_without_certificates_rows_are_seen_and_a_job_that_demands_tls_fails() -> None:
    """So the program above sees what is there to be seen."""
    with lab_with("jbs-clear", {}) as lab:
        found = seen_in_a_sort(lab, "clear", {})
        assert found.with_rows > found.all // 10
        with pytest.raises(VasError) as failed:
            seen_in_a_sort(lab, "refused", _DEMANDED)
        (log,) = re.findall(r"the whole output is (\S+)", str(failed.value))
        assert "demands TLS" in Path(log).read_text()
