"""vas-shuffled in a network of its own: where IPv6 is not as usual, and where no other node is.

The daemon is built by `./vas build` where a Rust compiler is; without it these tests are skipped.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from vas_core.repository import REPOSITORY

PROGRAM = REPOSITORY / "shuffled/target/release/vas-shuffled"
PORT = 23563
SECRET = bytes.fromhex("00ff")
JOB = struct.pack(">QI", 17, 3)
GONE, HERE = 2, 7

pytestmark = [
    pytest.mark.machine,
    pytest.mark.skipif(not PROGRAM.exists(), reason="vas-shuffled is not built"),
]

# In a new network: sets keys below /proc/sys/net/ipv6, and starts the daemon with a job.
_START = """
import json, pathlib, subprocess, sys
keys, client, argv = json.loads(sys.argv[1])
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
for key, value in keys.items():
    pathlib.Path("/proc/sys/net/ipv6", key).write_text(value)
pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
with subprocess.Popen(argv, **pipes) as daemon:
    print(daemon.stdout.readline(), end="", flush=True)
    daemon.stdin.write("add application_17_0003 alice 0 00ff\\n")
    daemon.stdin.flush()
    subprocess.run([sys.executable, *client], check=True)
    daemon.stdin.close()
"""


def with_daemon(tmp_path: Path, client: list[str], keys: dict[str, str] | None = None) -> list[str]:
    """Runs this file as a client beside a daemon; returns the lines that both print."""
    # One of its local directories is not there.
    argv = [PROGRAM, "--listen", f"[::]:{PORT}", "--witness", "10.9.8.6:8031", tmp_path / "away"]
    what = (keys or {}, [__file__, *client], [*map(str, argv), str(tmp_path)])
    alone = ["unshare", "--map-root-user", "--net", sys.executable, "-c", _START, json.dumps(what)]
    made = subprocess.run(alone, capture_output=True, text=True, timeout=60, check=False)
    assert made.returncode == 0, made.stderr
    return made.stdout.splitlines()


@pytest.mark.parametrize(
    ("key", "value"), [("bindv6only", "1"), ("bindv6only", "0"), ("conf/all/disable_ipv6", "1")]
)
def test_other_nodes_connect_by_ipv4(key: str, value: str, tmp_path: Path) -> None:
    lines = with_daemon(tmp_path, ["connect"], {key: value})
    assert lines == [f"listening on port {PORT}", "connected"]


def test_a_node_without_its_network_blames_itself_and_not_the_maps(tmp_path: Path) -> None:
    _, refusal, text = with_daemon(tmp_path, ["look", str(tmp_path), "10.9.8.7"])
    assert (int(refusal), text) == (HERE, "10.9.8.7: Network is unreachable (os error 101)")


def test_an_output_that_is_not_there_is_the_maps(tmp_path: Path) -> None:
    _, refusal, text = with_daemon(tmp_path, ["look", str(tmp_path), "127.0.0.1"])
    assert (int(refusal), text) == (
        GONE,
        "attempt_17_0003_m_000000_0: no file.out.index in any local directory",
    )


def _receive(stream: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        part = stream.recv(count - len(received))
        assert part
        received += part
    return received


def _ask(stream: socket.socket, kind: int, body: bytes) -> tuple[int, bytes]:
    stream.sendall(struct.pack(">IBBQ", len(body), kind, 0, 1) + body)
    length, answered, _, _ = struct.unpack(">IBBQ", _receive(stream, 14))
    return answered, _receive(stream, length)


def _look(directory: str, host: str) -> None:
    """Asks as a reducer does about an output on a host; prints the refusal's number and text."""
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(f"{directory}/vas-shuffled/socket")
        ours = os.urandom(32)
        stream.sendall(b"VASJBS02" + ours)
        theirs = _receive(stream, 40)[8:]
        proof = hmac.digest(SECRET, b"vas-jbs 1 asker\0" + ours + theirs + JOB, hashlib.sha256)
        answered, _ = _ask(stream, 1, JOB + proof)
        assert answered == 2
        body = JOB + struct.pack(">IIIIBB", 0, 0, 0, 0, 1, len(host)) + host.encode()
        answered, refusal = _ask(stream, 3, body)
        assert answered == 7
        print(refusal[0], refusal[1:].decode(), sep="\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["look", where, node]:
            _look(where, node)
        case _:
            socket.create_connection(("127.0.0.1", PORT), 10).close()
            print("connected")
