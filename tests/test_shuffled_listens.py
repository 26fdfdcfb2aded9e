"""vas-shuffled on kernels whose IPv6 is not as it usually is, each in a network of its own.

The daemon is built by `./vas build` where a Rust compiler is; without it these tests are skipped.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vas_core.repository import REPOSITORY

PROGRAM = REPOSITORY / "shuffled/target/release/vas-shuffled"

# In a new network: sets a key of net.ipv6, starts the daemon, and connects to it over IPv4.
_CONNECT = """
import pathlib, socket, subprocess, sys
key, value, *argv = sys.argv[1:]
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
pathlib.Path("/proc/sys/net/ipv6", key).write_text(value)
pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
with subprocess.Popen(argv, **pipes) as daemon:
    print(daemon.stdout.readline(), end="", flush=True)
    socket.create_connection(("127.0.0.1", 23563), 10).close()
    daemon.stdin.close()
print("connected")
"""


@pytest.mark.skipif(not PROGRAM.exists(), reason="vas-shuffled is not built")
@pytest.mark.parametrize(
    ("key", "value"), [("bindv6only", "1"), ("bindv6only", "0"), ("conf/all/disable_ipv6", "1")]
)
def test_other_nodes_connect_by_ipv4(key: str, value: str, tmp_path: Path) -> None:
    daemon = [str(PROGRAM), "--listen", "[::]:23563", str(tmp_path)]
    argv = ["unshare", "--map-root-user", "--net", sys.executable, "-c", _CONNECT, key, value]
    made = subprocess.run([*argv, *daemon], capture_output=True, text=True, timeout=60, check=False)
    assert made.stdout == "listening on port 23563\nconnected\n", made.stderr
