"""The guest's size, its QEMU's command line, its seed. Pure but for reading `loop.py`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from vas_bench.interference.guest.loop import JOBS
from vas_bench.interference.sizes import HostSizes
from vas_core.qemu import disk, escaped, kernel, machine, port
from vas_guest.seed import NOBODY
from vas_image.image import DISK, INITRD, KERNEL, Image
from vas_yarn.jobs.terasort import TeraSortSizes

_LOOP = Path(__file__).with_name("loop.py")
_MIB = 1 << 20
# QEMU's own, of what the guest's group may use: translated programs at most, the rest of it.
_TRANSLATIONS_MIB = 256
_QEMU_MIB = 128
# Of the guest's memory: what the kernel and the page cache have.
_HEAP_SHARE = 0.5
_MAX_HEAP_MIB = 1024
# Input, what maps spill and merge, output; and beside them logs.
_COPIES = 5
_SPARE_BYTES = 1 << 30
_NAME = "beside"
# Hadoop asks for the address of the machine's own name, and here no network answers.
_HOSTS = f"127.0.0.1 localhost {_NAME}\n"
_STATE = f"/var/lib/vas-{_NAME}"
_UNIT = """\
[Unit]
Description=The analytics beside a storage service
[Service]
Type=exec
ExecStart=/usr/bin/python3 -I /run/vas-loop.py
"""
# Nobody waits for a network that never comes.
_NO_NETWORK = " ".join(
    f"systemd.mask={name}-wait-online.service" for name in ("systemd-networkd", "NetworkManager")
)
_JAVA = "/usr/lib/vas/java/bin/java"
_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_LOG = "-Dlog4j.configuration=file:/usr/lib/vas/log4j.properties"
_MAIN = ("-cp", "/usr/lib/vas/hadoop/*", "org.apache.hadoop.examples.ExampleDriver")


@dataclass(frozen=True)
class Machine:
    """A machine to boot, and the directory of the files made for it."""

    directory: Path
    image: Image
    work: Path
    sizes: HostSizes
    cut: TeraSortSizes
    qemu: str
    kvm: bool

    @property
    def overlay(self) -> Path:
        """The file of the disk's overlay, with everything that the guest writes."""
        return self.work / "disk.qcow2"

    @property
    def seed(self) -> Path:
        """The file of the CD with the guest's seed."""
        return self.work / "seed.iso"

    @property
    def console(self) -> Path:
        """The file of everything that the guest prints on its console."""
        return self.work / "console"

    @property
    def said(self) -> Path:
        """The file of the messages of `loop.py`."""
        return self.work / "said"

    @property
    def log(self) -> Path:
        """The file of QEMU's own output."""
        return self.work / "qemu.log"

    @property
    def memory_mib(self) -> int:
        """The guest's memory: the limit of its cgroup without what QEMU itself needs."""
        translated = 0 if self.kvm else _TRANSLATIONS_MIB
        return self.sizes.guest_bytes // _MIB - translated - _QEMU_MIB

    @property
    def disk_bytes(self) -> int:
        """The size of the virtual disk."""
        return self.image.virtual_bytes + disk_bytes(self.cut.size_bytes)


def disk_bytes(size: int) -> int:
    """Returns the bytes that an overlay may grow to, for a TeraSort of so many bytes."""
    return _COPIES * size + _SPARE_BYTES


def qemu_argv(guest: Machine) -> list[str]:
    """Returns QEMU's command line: the disk past the host's page cache, as on sites; no network."""
    command_line = f"root={guest.image.root} rw {guest.image.kernel_command_line} {_NO_NETWORK}"
    return [
        guest.qemu,
        *machine(
            kvm=guest.kvm,
            memory_mib=guest.memory_mib,
            cpus=guest.sizes.guest_cpus,
            translations_mib=_TRANSLATIONS_MIB,
        ),
        *kernel(guest.directory / KERNEL, guest.directory / INITRD, command_line),
        *disk("disk", guest.overlay, "format=qcow2,cache=none"),
        *disk("seed", guest.seed, "format=raw,readonly=on"),
        *("-device", "virtio-rng-pci", "-device", "virtio-serial-pci"),
        *port("vas.work", "work", f"file,path={escaped(guest.said)}"),
        *("-serial", f"file:{escaped(guest.console)}", "-qmp", "stdio"),
    ]


def overlay_argv(guest: Machine) -> list[str]:
    """Returns the command line that makes the overlay; the image's disk is not written to."""
    base = ("-b", str((guest.directory / DISK).resolve()), "-F", "qcow2")
    made = (str(guest.overlay), str(guest.disk_bytes))
    return ["qemu-img", "create", "-q", "-f", "qcow2", *base, *made]


def seed(guest: Machine) -> dict[str, str]:
    """Returns the files of the NoCloud seed: the loop and its jobs.

    It has no cluster.yaml, so no service of VAS starts.
    """
    files = {
        "/run/vas-loop.py": _LOOP.read_text(),
        JOBS: json.dumps(jobs(guest)),
        "/run/systemd/system/vas-loop.service": _UNIT,
        "/etc/hosts": _HOSTS,
    }
    user_data = {
        "users": NOBODY,
        "write_files": [{"path": path, "content": text} for path, text in files.items()],
        "runcmd": [["systemctl", "daemon-reload"], ["systemctl", "start", "vas-loop"]],
    }
    return {
        "meta-data": json.dumps({"instance-id": f"vas-{_NAME}", "local-hostname": _NAME}) + "\n",
        "network-config": "version: 2\nethernets: {}\n",
        "user-data": "#cloud-config\n" + yaml.safe_dump(user_data),
    }


def jobs(guest: Machine) -> dict[str, Sequence[str]]:
    """Returns the jobs' command lines, and the output's directory as `output`.

    A job has one reducer and runs as many maps at once as there are CPUs.
    """
    heap = min(_MAX_HEAP_MIB, int(guest.memory_mib * _HEAP_SHARE))
    java = (_JAVA, f"-Xmx{heap}m", *_JVM, _LOG, *_MAIN)
    data, output = f"{_STATE}/input", f"{_STATE}/output"
    properties = {
        "hadoop.tmp.dir": f"{_STATE}/work",
        "mapreduce.framework.name": "local",
        "mapreduce.local.map.tasks.maximum": guest.sizes.guest_cpus,
        "mapreduce.task.io.sort.mb": max(16, heap // (4 * guest.sizes.guest_cpus)),
        "mapreduce.input.fileinputformat.split.maxsize": guest.cut.split_bytes,
        "mapreduce.job.reduces": 1,
    }
    told = [f"-D{name}={value}" for name, value in properties.items()]
    return {
        "generate": [*java, "teragen", *told, str(guest.cut.rows), data],
        "sort": [*java, "terasort", *told, data, output],
        "output": output,
    }
