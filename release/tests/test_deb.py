"""The Debian package, read, installed and removed by dpkg itself."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from vas_core.errors import NotHere
from vas_core.process import run
from vas_release import deb
from vas_release.built_parts import DAEMON_PROGRAM
from vas_release.source import ReleaseSource


def test_the_newest_symbol_says_which_glibc_is_needed() -> None:
    assert deb.oldest_glibc(b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.4\0") == "2.34"
    with pytest.raises(NotHere, match="names no version of glibc"):
        deb.oldest_glibc(b"")


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


@pytest.mark.machine
@pytest.mark.usefixtures("strict_umask")
@pytest.mark.skipif(not shutil.which("dpkg"), reason="no dpkg here")
def test_dpkg_installs_it_verifies_it_and_removes_it(tmp_path: Path, source: ReleaseSource) -> None:
    out, machine = tmp_path / "out", tmp_path / "machine"
    out.mkdir()
    (made,) = deb.build_deb(source, out)
    for name in ("info", "updates"):
        (machine / "var/lib/dpkg" / name).mkdir(parents=True)
    (machine / "var/lib/dpkg/status").touch()
    fields = run(["dpkg-deb", "--field", made.path, "Package", "Version", "Depends"]).stdout
    assert fields.splitlines()[:2] == ["Package: vas-shuffled", "Version: 1.2.0"]
    assert "libc6 (>= 2." in fields
    # Another machine's files, below a directory: neither its scripts nor its libraries are needed.
    dpkg = ["dpkg", f"--root={machine}", "--force-depends,not-root,bad-path,architecture"]
    run([*dpkg, "--log=/dev/null", "--install", made.path])
    program = machine / "usr/bin/vas-shuffled"
    assert program.read_bytes() == (source.repository / DAEMON_PROGRAM).read_bytes()
    assert program.stat().st_mode & 0o777 == 0o755
    assert run([*dpkg, "--verify", "vas-shuffled"]).stdout == ""
    run([*dpkg, "--log=/dev/null", "--purge", "vas-shuffled"])
    assert not program.exists() and not (machine / "usr/share/doc/vas-shuffled").exists()


@pytest.mark.machine
def test_a_package_built_twice_has_the_same_bytes(tmp_path: Path, source: ReleaseSource) -> None:
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (file,) = deb.build_deb(source, tmp_path / name)
        made.append(file.path.read_bytes())
    assert made[0] == made[1]
