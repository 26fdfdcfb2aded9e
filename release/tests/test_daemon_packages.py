"""The package of vas-shuffled, read, installed and removed by dpkg itself, and read by rpm."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from vas_core.process import run
from vas_release.built_parts import DAEMON_PROGRAM
from vas_release.daemon_packages import daemon_package_for
from vas_release.families import DEBIAN, RED_HAT, Family
from vas_release.source import ReleaseSource

pytestmark = pytest.mark.machine
FAMILIES = [
    pytest.param(
        family,
        id=family.kind,
        marks=pytest.mark.skipif(not shutil.which(family.packer), reason=f"no {family.packer}"),
    )
    for family in (DEBIAN, RED_HAT)
]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReleaseSource:
    """A clone in which the daemon is built; this Python's own program stands for it."""
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    program = tmp_path / DAEMON_PROGRAM
    program.parent.mkdir(parents=True)
    shutil.copy(sys.executable, program)
    with program.open("ab") as stream:
        stream.write(b"\0GLIBC_2.34\0")
    for name in ("LICENSE", "core/locks/licences.tsv", "shuffled/Cargo.lock"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("package = []\n")
    run(["git", "init", "-q", tmp_path])
    return ReleaseSource(tmp_path, "1.2.0", "c" * 40, 1_000_000_000)


def built(family: Family, source: ReleaseSource, directory: Path) -> Path:
    directory.mkdir()
    (made,) = daemon_package_for(family)(source, directory)
    return made.path


@pytest.mark.usefixtures("strict_umask")
@pytest.mark.skipif(not shutil.which("dpkg"), reason="no dpkg here")
def test_dpkg_installs_it_verifies_it_and_removes_it(tmp_path: Path, source: ReleaseSource) -> None:
    package, machine = built(DEBIAN, source, tmp_path / "out"), tmp_path / "machine"
    for name in ("info", "updates"):
        (machine / "var/lib/dpkg" / name).mkdir(parents=True)
    (machine / "var/lib/dpkg/status").touch()
    fields = run(["dpkg-deb", "--field", package, "Package", "Version", "Depends"]).stdout
    assert fields.splitlines()[:2] == ["Package: vas-shuffled", "Version: 1.2.0"]
    assert "libc6 (>= 2." in fields
    # Another machine's files, below a directory: neither its scripts nor its libraries are needed.
    dpkg = ["dpkg", f"--root={machine}", "--force-depends,not-root,bad-path,architecture"]
    run([*dpkg, "--log=/dev/null", "--install", package])
    program = machine / "usr/bin/vas-shuffled"
    assert program.read_bytes() == (source.repository / DAEMON_PROGRAM).read_bytes()
    assert program.stat().st_mode & 0o777 == 0o755
    assert run([*dpkg, "--verify", "vas-shuffled"]).stdout == ""
    run([*dpkg, "--log=/dev/null", "--purge", "vas-shuffled"])
    assert not program.exists() and not (machine / "usr/share/doc/vas-shuffled").exists()


@pytest.mark.skipif(not shutil.which("rpm"), reason="no rpm here")
@pytest.mark.skipif(not shutil.which("rpmbuild"), reason="no rpmbuild here")
@pytest.mark.usefixtures("strict_umask")
def test_rpm_reads_its_names_files_and_needs(tmp_path: Path, source: ReleaseSource) -> None:
    package = built(RED_HAT, source, tmp_path / "out")
    assert package.name == "vas-shuffled-1.2.0-1.x86_64.rpm"
    listed = run(["rpm", "-qp", "--qf", "[%{FILENAMES} %{FILEMODES:perms}\n]", package]).stdout
    assert "/usr/bin/vas-shuffled -rwxr-xr-x\n" in listed
    assert "/usr/share/doc/vas-shuffled/copyright -rw-r--r--\n" in listed
    assert "glibc >= 2." in run(["rpm", "-qp", "--requires", package]).stdout
    assert run(["rpm", "-qp", "--scripts", package]).stdout == ""


@pytest.mark.parametrize("family", FAMILIES)
def test_a_package_built_twice_has_the_same_bytes(
    tmp_path: Path, source: ReleaseSource, family: Family
) -> None:
    one, two = (built(family, source, tmp_path / name) for name in ("one", "other place"))
    assert one.read_bytes() == two.read_bytes()
