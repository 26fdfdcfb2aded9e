"""A machine that lacks things: a PATH of recorded stand-ins, and a package manager of them.

Nothing is installed: `apt-get` and `dnf` here write down their arguments and put the programs
of a package into the directory that is all of PATH.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from vas_core.polling import poll

REPOSITORY = Path(__file__).parents[2]
_TOOLS = (
    "basename", "bash", "cat", "chmod", "cmp", "cp", "dirname", "env", "find", "flock", "grep",
    "head", "ln", "mkdir", "mv", "readlink", "rm", "sed", "sh", "sha256sum", "sleep", "tail", "tee",
    "touch",
)  # fmt: skip
PYTHON = """#!/bin/sh
[ "$1" != -P ] || shift
case "$1 $2" in
    "-c import sys"*) [ {version} -ge 11 ] ;;
    "-c "*) exit 0 ;;
    "-m venv")
        for last; do :; done
        mkdir -p "$last/bin"; touch "$last/pyvenv.cfg"
        cp "$0" "$last/bin/python"
        printf '#!/bin/sh\\necho "ran: $*, as $VAS_PROGRAM"\\n' >"$last/bin/vas"
        chmod +x "$last/bin/vas" ;;
    "-m pip") [ -z "$PIP_FAILS" ] ;;
esac
"""
MAVEN = """#!/bin/sh
echo "mvn $*" >>"$RECORD"
mkdir -p yarn-plugins/dist/target yarn-plugins/hadoop/target/lib
touch yarn-plugins/dist/target/vas-yarn-plugins-1.jar
touch yarn-plugins/hadoop/target/lib/hadoop-common-3.jar
[ -z "$UNRECORDED" ] || touch "yarn-plugins/hadoop/target/lib/$UNRECORDED"
jar=org/apache/hadoop/hadoop-common/3/hadoop-common-3.jar
mkdir -p "repository/$(dirname "$jar")"
printf %s "$JAR" >"repository/$jar"
printf %s "$PWD/repository/$jar" >yarn-plugins/hadoop/target/classpath
"""
_MANAGER = """#!/bin/sh
echo "{name} $*" >>"$RECORD"
[ "$1" = update ] && exit 0
for package; do
    [ -d "$STORE/$package" ] && cp "$STORE/$package"/* "$BIN/"
done
exit 0
"""
_INSTALLED = (
    "git", "mvn", "ip", "unshare", "mount", "cc", "java", "javac", "iperf3", "chromium", "virsh",
    "libvirtd", "virt-qemu-run", "qemu-system-x86_64", "xmllint", "fio", "mmdebstrap", "qemu-img",
    "debugfs", "nft", "krb5kdc", "kadmin.local", "kinit", "gcc", "make", "promtool", "prometheus",
    "vagrant", "cpio", "cmake", "dpkg-deb", "rpmbuild", "mpiexec.openmpi", "mpiexec.mpich",
    "smpirun",
)  # fmt: skip

EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
_BOOTSTRAP = (
    "vas",
    "pyproject.toml",
    "core/locks/python-dev.txt",
    "core/bootstrap/packages.bash",
    "core/bootstrap/plugins.bash",
    "core/bootstrap/waits.bash",
    "core/bootstrap/native.bash",
    "core/vas_core/packages.tsv",
)


class ScriptClone:
    """A clone of the script `./vas` in a directory, and the programs that it finds on PATH.

    All programs are stand-ins; `record` is the file in which they write down their command
    lines.
    """

    def __init__(self, directory: Path, manager: str) -> None:
        self.clone, self.bin, self.store = (directory / n for n in ("clone", "bin", "store"))
        self.record = directory / "record"
        self.manager = manager
        self.release = directory / "os-release"
        self.release.write_text('ID=debian\nVERSION_ID="12"\n')
        for path in (self.bin, self.store, self.clone / "cluster"):
            path.mkdir(parents=True)
        (self.clone / "yarn-plugins/layout/src").mkdir(parents=True)
        (self.clone / "cluster/cluster.schema.json").touch()
        for name in _BOOTSTRAP:
            (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, self.clone / name)
        self._have_files(directory / "files")
        # The lock of a clone whose Hadoop is one empty jar.
        name = "org/apache/hadoop/hadoop-common/3/hadoop-common-3.jar"
        (self.clone / "core/locks/maven.sha256").write_text(f"{EMPTY_SHA256}  {name}\n")
        for tool in _TOOLS:
            found = shutil.which(tool)
            assert found
            (self.bin / tool).symlink_to(found)
        self.program("id", "#!/bin/sh\necho 0\n")
        self.program(manager, _MANAGER.format(name=manager))
        self.python("python3.11", 11)
        for name in _INSTALLED:
            self.program(name, "#!/bin/sh\nexit 0\n")
        self.java(17)
        self.program("mvn", MAVEN)

    def program(self, name: str, script: str, package: str | None = None) -> None:
        """Puts a program on PATH; with a package, only when that package gets installed."""
        directory = self.store / package if package else self.bin
        directory.mkdir(exist_ok=True)
        (directory / name).write_text(script)
        (directory / name).chmod(0o755)

    def _have_files(self, files: Path) -> None:
        """Makes every file that packages.tsv looks for, in this directory instead of in /usr."""
        table = self.clone / "core/vas_core/packages.tsv"
        text = table.read_text()
        for name in re.findall(r"file:(/[^\t|]+)", text):
            (files / name[1:]).parent.mkdir(parents=True, exist_ok=True)
            (files / name[1:]).touch()
        table.write_text(text.replace("file:/", f"file:{files}/"))

    def python(self, name: str, minor: int, package: str | None = None) -> None:
        """Puts a stand-in for Python 3.MINOR on PATH, or into a package."""
        self.program(name, PYTHON.replace("{version}", str(minor)), package)

    def java(self, version: int, package: str | None = None) -> None:
        """Puts stand-ins for `java` and `javac` of this version on PATH, or into a package."""
        self.program("java", f"#!/bin/sh\necho 'x version \"{version}.0.1\"' >&2\n", package)
        self.program("javac", "#!/bin/sh\n", package)

    def lacks(self, *names: str) -> None:
        """Removes programs from PATH."""
        for name in names:
            (self.bin / name).unlink()

    def vas(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs `./vas` in the clone to its end, with these environment variables."""
        return subprocess.run(
            ["./vas", *words],
            cwd=self.clone, env=self._environment(variables), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def interrupted(self, *words: str, after: str, **variables: str) -> tuple[int, str]:
        """Runs `./vas`, and presses Ctrl-C once `after` is in the record.

        Returns its exit status and stderr. Raises VasError if `after` does not come within
        20 s.
        """
        program = subprocess.Popen(
            ["./vas", *words],
            cwd=self.clone, env=self._environment(variables), stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        poll(self._recorded, lambda text: after in text, 20, f"{after} in the record")
        os.killpg(program.pid, signal.SIGINT)
        stderr = program.communicate(timeout=20)[1]
        return program.returncode, stderr

    def _recorded(self) -> str:
        return self.record.read_text() if self.record.exists() else ""

    def _environment(self, variables: dict[str, str]) -> dict[str, str]:
        env = {"PATH": str(self.bin), "HOME": str(self.clone), "RECORD": str(self.record)}
        env |= {"STORE": str(self.store), "BIN": str(self.bin)}
        return env | {"SYSTEMD_OS_RELEASE": str(self.release)} | variables

    def installed(self) -> list[str]:
        """Returns the packages that the package manager was asked to install."""
        lines = self._recorded().splitlines()
        words = [line.split() for line in lines if line.startswith(f"{self.manager} install")]
        return [word for line in words for word in line[2:] if not word.startswith("-")]

    def builds(self) -> int:
        """Returns how many times Maven was started."""
        lines = self._recorded().splitlines()
        return sum(line.startswith("mvn ") for line in lines)
