"""A storage server under a real libvirt, with a guest of the project's image; and its YARN.

The guest is emulated, and a bridge stands for the data fabric: there is no virtual function. The
ResourceManager runs beside libvirt, on the same bridge.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from vas_cluster import Cluster, Guest, load_cluster
from vas_cluster.hadoop import by_file, configuration_xml, hadoop_properties
from vas_cluster.virtio import host_interface
from vas_core.cli import run_command
from vas_core.process import Completed, run
from vas_guest.seed import hosts_file
from vas_image.image import INITRD, KERNEL, read_image
from vas_lab.spec import find_java
from vas_tests import emulated, libvirt
from vas_tests.sriov.agent import TIED
from vas_yarn.jars import find_hadoop, find_plugins

EXAMPLE = Path(__file__).parents[2] / "cluster/examples/laptop-lab.yaml"
FABRIC = "fabric0"
_MEMORY = "2304MiB"
_DISK = "6GiB"
_HADOOP = "/usr/lib/vas/hadoop"
_STATE = "/var/lib/yarn"
HISTORY = f"{_STATE}/staging/history/done_intermediate/yarn"
"""The guest's directory of job histories; their names tell numbers of tasks, and how jobs ended."""
# Where the bridges are; names are those of the map: arguments are a hosts file, the own name of
# this machine there, and a program.
_NAMED = 'mount --bind "$1" /etc/hosts; echo "$2" >/proc/sys/kernel/hostname; shift 2; exec "$@"'
_ASK = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=30).read().decode())"


@dataclass(frozen=True)
class GuestSite:
    """The first host of the example map, its guest `vm1` and libvirt. `directory` has its files."""

    directory: Path
    daemon: libvirt.LibvirtDaemon
    image: Path

    @property
    def map(self) -> Path:
        """Returns the path of the site's map."""
        return self.directory / "cluster.yaml"

    @property
    def cluster(self) -> Cluster:
        """Returns the site's map, read from its file. Raises BadInput for an invalid map."""
        return load_cluster(self.map)

    @property
    def guest(self) -> Guest:
        """Returns the only guest of the site."""
        return self.cluster.guests()[0]

    def vas(self, command: str, *more: str) -> int:
        """Runs `vas guest COMMAND` for the guest, and returns its exit status."""
        files = ("--cluster", str(self.map), "--settings", str(self.directory / "guest.yaml"))
        name = self.guest.name
        return run_command(["guest", command, name, *files, "--connect", self.daemon.uri, *more])

    def ssh(self, command: str, stdin: str | None = None) -> Completed:
        """Runs a command as the guest's administrator, from the storage server.

        Never raises for a status; 255 means that there was no login.
        """
        asked = ("BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")
        options = [word for option in (*asked, "ConnectTimeout=20") for word in ("-o", option)]
        key = ("-i", str(self.directory / "key"))
        argv = ("ssh", "-q", *options, *key, f"vas@{self.guest.address}", command)
        return self.daemon.inside(*argv, check=False, stdin=stdin)

    def install_hadoop_configuration(self) -> None:
        """Writes Hadoop's configuration files into the guest, as the role `hadoop` does.

        Raises AssertionError if the guest refuses one.
        """
        files = _files(self.cluster, Path("/etc/vas/cluster.yaml"))
        files["nodemanager.env"] = f"HEAP={emulated.NODE_MANAGER_HEAP}\n"
        for name, text in files.items():
            done = self.ssh(f"sudo install -D -m 644 /dev/stdin /etc/vas/hadoop/{name}", text)
            assert done.status == 0, done.stderr

    @contextmanager
    def resource_manager(self) -> Iterator[None]:
        """Runs the ResourceManager of the map while the body runs."""
        conf = self.directory / "hadoop"
        conf.mkdir()
        for name, text in _files(self.cluster, self.map, self.directory).items():
            (conf / name).write_text(text)
        (self.directory / "hosts").write_text(hosts_file(self.cluster))
        jars = ":".join(map(str, (conf, *sorted(find_hadoop().glob("*.jar")), find_plugins())))
        program = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
        java = (
            str(find_java() / "bin/java"),
            *emulated.JVM.split(),
            "-Xmx300m",
            "-cp",
            jars,
            program,
        )
        names = (str(self.directory / "hosts"), self.cluster.yarn.resourcemanager.name)
        named = (*TIED, "unshare", "--mount", "--uts", "sh", "-euc", _NAMED, "sh", *names)
        with (self.directory / "rm.log").open("wb") as log:
            process = subprocess.Popen(
                self.daemon.entering(*named, *java),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            yield
        finally:
            process.kill()
            process.wait()

    def ask_yarn(self, path: str) -> Any:
        """Returns the ResourceManager's JSON at a path; None while it does not answer."""
        url = f"http://{self.cluster.resourcemanager_address}:8088/ws/v1/cluster/{path}"
        done = self.daemon.inside(sys.executable, "-Ic", _ASK, url, check=False)
        return json.loads(done.stdout) if done.status == 0 else None

    def run_job(self, *words: str) -> Completed:
        """Runs one of Hadoop's examples from the guest, and returns how it ended."""
        examples = f"$(echo {_HADOOP}/hadoop-mapreduce-examples-*.jar)"
        java = f"/usr/lib/vas/java/bin/java {emulated.CLIENT_HEAP}"
        path = f"/etc/vas/hadoop:{_HADOOP}/*:/usr/lib/vas/plugins/*"
        main = "org.apache.hadoop.util.RunJar"
        command = f"cd {_STATE}; {java} -cp '{path}' {main} {examples} {' '.join(words)}"
        return self.ssh(f'sudo -u yarn sh -c "{command}" 2>&1')


@contextmanager
def running(directory: Path, image: Path) -> Iterator[GuestSite]:
    """Starts libvirt for the body; yields the site, whose guest is not defined yet.

    `directory` gets the site's files. Raises VasError if libvirt does not start.
    """
    value = yaml.safe_load(EXAMPLE.read_text())
    host = value["hosts"][0]
    disk = {"path": str(directory / "vm1.qcow2"), "size": _DISK}
    host["guests"][0] |= {"memory": _MEMORY, "disks": [disk]}
    (directory / "cluster.yaml").write_text(yaml.safe_dump(value))
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory / "key"])
    (directory / "guest.yaml").write_text(yaml.safe_dump(_settings(directory, image)))
    (directory / "libvirt").mkdir()
    bridges = [(host["nics"]["bridge"], str(host_interface())), (FABRIC, f"{host['address']}/24")]
    bridges.append((FABRIC, f"{value['yarn']['resourcemanager']['address']}/24"))
    with libvirt.running(directory / "libvirt", bridges) as daemon:
        yield GuestSite(directory, daemon, image)


def _settings(directory: Path, image: Path) -> dict[str, Any]:
    about = read_image(image)
    return {
        "accelerator": "qemu",
        "virtual_function": False,
        "memory_limit": False,  # it takes CAP_SYS_RESOURCE, which a container lacks
        "fabric_bridge": FABRIC,
        "kernel": str(image / KERNEL),
        "initrd": str(image / INITRD),
        "kernel_command_line": f"root={about.root} {about.kernel_command_line}",
        "seeds": str(directory / "seed"),
        "consoles": str(directory),
        "authorized_keys": [(directory / "key.pub").read_text().strip()],
    }


def _files(cluster: Cluster, map_file: Path, state: Path = Path(_STATE)) -> dict[str, str]:
    """Hadoop's configuration. There is no Lustre: a job's files are the guest's own."""
    properties = hadoop_properties(cluster, map_file) | emulated.properties()
    properties |= {
        "fs.defaultFS": "file:///",
        "hadoop.tmp.dir": str(state / "tmp"),
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": f"{_HADOOP}/*",
        "yarn.app.mapreduce.am.staging-dir": str(state / "staging"),
        "yarn.application.classpath": f"/etc/vas/hadoop,{_HADOOP}/*,/usr/lib/vas/plugins/*",
        "yarn.node-attribute.fs-store.root-dir": str(state / "attributes"),
        "yarn.node-labels.fs-store.root-dir": str(state / "labels"),
        "yarn.nodemanager.local-dirs": str(state / "local"),
        "yarn.nodemanager.log-dirs": "/var/log/yarn/containers",
        "yarn.nodemanager.resource.memory-mb": "1024",
        "yarn.nodemanager.vmem-check-enabled": "false",
    }
    return {name: configuration_xml(found) for name, found in by_file(properties).items()}
