"""The process 1 of the NUMA machine: places interrupts and a thread, or runs the experiment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vas_affinity.apply.local_host import LocalHost
    from vas_affinity.placement import HostPlacement
    from vas_core.root import Root

RESULT = "VAS-RESULT "
EXPERIMENT = "VAS_EXPERIMENT"
"""Environment variable of options: if it is set, `vas affinity experiment` runs with them."""
STATE = Path("/run/affinity")
NIC = "eth0"


def main() -> None:
    """Does the machine's task, prints one line of JSON with the result, and powers it off."""
    # The modules and programs are this machine's, and so is their path.
    os.environ["PATH"] = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
    words = os.environ.get(EXPERIMENT, "").split()
    try:
        found = _experiment(words) if words else _placed()
    except BaseException:
        found = {"failed": traceback.format_exc()}
    print(f"\n{RESULT}{json.dumps(found)}", flush=True)
    os.sync()
    subprocess.run(["busybox", "poweroff", "-f"], check=False)


def _experiment(words: list[str]) -> dict[str, Any]:
    from vas_core.process import run

    argv = [sys.executable, "-m", "vas_core", "affinity", "experiment", *words, "--json"]
    found: dict[str, Any] = json.loads(run(argv).stdout)
    return found


def _placed() -> dict[str, Any]:
    from vas_affinity.apply.local_host import LocalHost
    from vas_core.root import Root

    root = Root()
    disks, nic = _devices()
    queue = disks["nvme0q2"]
    near = int((root.read(f"proc/irq/{queue}/effective_affinity_list") or "").split("-")[0])
    with subprocess.Popen(["sleep", "600"]) as worker:
        plan = _plan(root, worker.pid, near=near, queue=queue, nic=nic)
        found = _machine(root) | {"queues": len(disks), "near": near}
        found |= _applied(root, LocalHost(STATE), plan, worker.pid, nic)
        worker.kill()
    return found


def _devices() -> tuple[dict[str, int], int]:
    """The interrupts of the disk's queues, and one of the NIC, which is up."""
    from vas_core.polling import poll
    from vas_core.process import run

    run(["modprobe", "--all", "nvme", "e1000e"])
    disks = poll(lambda: _interrupts("nvme0q"), lambda seen: len(seen) > 1, 60, "the disk's queues")
    poll(lambda: Path(f"/sys/class/net/{NIC}").exists(), bool, 60, NIC)
    run(["ip", "link", "set", NIC, "up"])
    nics = poll(lambda: _interrupts(NIC), bool, 60, "the NIC's interrupts")
    return disks, next(iter(nics.values()))


def _plan(root: Root, worker: int, *, near: int, queue: int, nic: int) -> HostPlacement:
    """The thread to where the disk's queue interrupts, the queue to elsewhere, the NIC to CPU 9."""
    from vas_affinity.apply.thread import started
    from vas_affinity.placement import HostPlacement, Pin, PinTarget

    def pin(target: PinTarget, name: str, cpu: int, **rest: Any) -> Pin:
        return Pin(target=target, name=name, cpus=(cpu,), reason="test", **rest)

    pins = (
        pin(PinTarget.INTERRUPT, str(queue), (near + 1) % 16),
        pin(PinTarget.INTERRUPT, str(nic), 9),
        pin(PinTarget.THREAD, "sleep/sleep/0", near, tid=worker, start=started(root, worker)),
    )
    return HostPlacement(host="numa", pins=pins)


def _machine(root: Root) -> dict[str, Any]:
    return {
        "online": root.read("sys/devices/system/cpu/online"),
        "nodes": {path.name: (path / "cpulist").read_text().strip() for path in _nodes()},
        "disk_node": root.read("sys/class/nvme/nvme0/device/numa_node"),
        "nic_node": root.read(f"sys/class/net/{NIC}/device/numa_node"),
    }


def _applied(
    root: Root, host: LocalHost, plan: HostPlacement, worker: int, nic: int
) -> dict[str, Any]:
    """The plan in force, compared, disturbed by a link that goes up again, and taken back."""
    from vas_core.process import run

    found: dict[str, Any] = {"apply": [outcome.as_json() for outcome in host.apply(plan)]}
    found["worker"] = sorted(os.sched_getaffinity(worker))
    found["nic"] = root.read(f"proc/irq/{nic}/smp_affinity_list")
    found["verify"] = [outcome.as_json() for outcome in host.verify(plan)]
    run(["ip", "link", "set", NIC, "down"])
    run(["ip", "link", "set", NIC, "up"])
    found["nic_after_link_up"] = root.read(f"proc/irq/{nic}/smp_affinity_list")
    found["again"] = [outcome.as_json() for outcome in host.apply(plan)]
    found["rollback"] = [outcome.as_json() for outcome in host.rollback()]
    found["worker_after"] = sorted(os.sched_getaffinity(worker))
    found["nic_after"] = root.read(f"proc/irq/{nic}/smp_affinity_list")
    return found


def _nodes() -> list[Path]:
    return sorted(Path("/sys/devices/system/node").glob("node[0-9]*"))


def _interrupts(prefix: str) -> dict[str, int]:
    """Handler's name -> number."""
    found = Path("/proc/irq").glob(f"[0-9]*/{prefix}*")
    return {path.name: int(path.parent.name) for path in sorted(found)}


if __name__ == "__main__":
    main()
