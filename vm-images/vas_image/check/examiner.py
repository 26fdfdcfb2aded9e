"""Runs in the image as it boots, and reports its state. Uses the standard library only.

A unit of the check's seed starts it. It waits until the system is up and the NodeManager answers,
writes its verdict, a line of JSON, to a virtio port, and turns the machine off.
"""

from __future__ import annotations

import json
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

PORT = "/dev/virtio-ports/vas.verdict"
_NODE = "http://127.0.0.1:8042/ws/v1/node/info"
_USER_DATA = "/var/lib/cloud/instance/user-data.txt"
_JAVA_HOME = ("env", "JAVA_HOME=/usr/lib/vas/java")
_CLASS_PATH = "/usr/lib/vas/hadoop/*:/usr/lib/vas/plugins/*"
CLASSES = ("--directory", "/var/lib/vas/cds", "--classpath", _CLASS_PATH)
BOOT_SECONDS = 900.0
NODE_SECONDS = 600.0


def output(*argv: str, seconds: float = 60.0) -> str:
    """Returns the output of a program, or the error if it could not run."""
    try:
        done = subprocess.run(
            argv, check=False, capture_output=True, text=True, timeout=seconds, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired) as wrong:
        return str(wrong)
    return done.stdout.strip()


def node_manager() -> dict[str, Any]:
    """Waits for the NodeManager's answer about itself; returns it, or why there is none."""
    ends, why = time.monotonic() + NODE_SECONDS, ""
    while time.monotonic() < ends:
        try:
            with urllib.request.urlopen(_NODE, timeout=10) as answer:
                found: dict[str, Any] = json.load(answer)["nodeInfo"]
                return found
        except (OSError, ValueError, KeyError) as wrong:
            why = str(wrong)
        if output("systemctl", "is-active", "vas-nodemanager") in ("failed", "inactive"):
            break
        time.sleep(1)
    return {"why": why, "log": log_of("vas-nodemanager")}


def log_of(*units: str) -> str:
    """Returns the end of the journal of some units."""
    of_units = (word for unit in units for word in ("-u", unit))
    return output("journalctl", *of_units, "-n", "30", "-o", "cat", "--no-pager")


def verdict() -> dict[str, Any]:
    """Returns the state of this machine, with the keys of `verdict.ImageVerdict`.

    Waits until the system is up and the NodeManager answers, each for a limited time.
    """
    state = output("systemctl", "is-system-running", "--wait", seconds=BOOT_SECONDS)
    up = float(Path("/proc/uptime").read_text().split()[0])
    listed = output("systemctl", "list-units", "--failed", "--plain", "--no-legend").splitlines()
    failed = [line.split()[0] for line in listed if line]
    node = node_manager()
    return {
        "state": state,
        "failed": failed,
        "failed_log": log_of(*failed) if failed else "",
        "up_seconds": up,
        "node_seconds": float(Path("/proc/uptime").read_text().split()[0]),
        "node": node,
        "hostname": output("hostname"),
        "machine_id": Path("/etc/machine-id").read_text().strip(),
        "cloud_init": output("cloud-init", "status").partition("status: ")[2].split("\n")[0],
        "seed": output("cloud-init", "schema", "--config-file", _USER_DATA),
        "addresses": output("ip", "-brief", "address").splitlines(),
        "java": output("/usr/lib/vas/java/bin/java", "--version").partition("\n")[0],
        "routed": output("vas-routed", "--help").partition("\n")[0],
        "classes": output(*_JAVA_HOME, "vas", "cds", "status", *CLASSES),
        "root_bytes": int(output("findmnt", "-bno", "SIZE", "/") or 0),
    }


def main() -> None:
    """Writes the verdict, whatever happens, and turns the machine off."""
    try:
        found = verdict()
    except Exception as wrong:  # the machine must not end without a verdict
        found = {"state": f"{type(wrong).__name__}: {wrong}"}
    with Path(PORT).open("w") as port:
        port.write(json.dumps(found) + "\n")
    subprocess.run(["systemctl", "poweroff"], check=False)


if __name__ == "__main__":
    main()
