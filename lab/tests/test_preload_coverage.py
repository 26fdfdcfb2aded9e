"""The preloaded library covers every call that the lab's programs make, Java's included."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from stand_in import in_lab

from vas_core.process import run
from vas_lab.lustre import libc
from vas_lab.lustre.stand_in import LabLustre

pytestmark = pytest.mark.machine

_OF_INTEREST = re.compile(
    r"(__)?(open(at)?(64)?(_2)?|creat(64)?|mko?stemps?(64)?|f(re)?open(64)?|mkdir(at)?|mkdtemp"
    r"|[lf]?(get|set|list)xattr|f?statfs(64)?|renameat2"
    # What OSTs answer: looks, bytes, and the whole of a file.
    r"|[lf]?stat(at)?(64)?|statx|p?(read|write)v?(64)?|copy_file_range|sendfile(64)?"
    r"|f(data)?sync|f?truncate(64)?|unlink(at)?|remove"
    # Locks, which are counted.
    r"|flock|lockf(64)?|fcntl(64)?"
    # A descriptor that stops being a file's.
    r"|close|dup[23])"
)


def _symbols(binary: Path, kind: str) -> set[str]:
    lines = run(["nm", "-D", binary]).stdout.splitlines()
    words = [line.split()[-2:] for line in lines if len(line.split()) >= 2]
    return {name.partition("@")[0] for kind_, name in words if kind_ == kind}


def _programs() -> list[Path]:
    found = [
        shutil.which(name) for name in ("bash", "cp", "mv", "dd", "tar", "sed", "sort", "perl")
    ]
    paths = [Path(name).resolve() for name in [*found, sys.executable] if name]
    java = shutil.which("java")
    home = Path(java).resolve().parent.parent if java else Path("/nonexistent")
    paths += [home / "lib" / name for name in ("libnio.so", "libjava.so", "server/libjvm.so")]
    paths += list(Path(sys.base_prefix, "lib").glob("libpython3*.so*"))
    return [path for path in paths if path.is_file()]


@pytest.mark.unhurried
def test_every_call_the_labs_programs_make_is_covered(site: LabLustre) -> None:
    if not shutil.which("nm"):
        pytest.skip("nm is not installed (binutils)")
    covered = _symbols(libc.library_path(site.state_dir), "T")
    for program in _programs():
        used = {name for name in _symbols(program, "U") if _OF_INTEREST.fullmatch(name)}
        assert used <= covered, f"{program} calls {used - covered}"


def test_the_library_shows_nothing_but_libc_names(site: LabLustre) -> None:
    if not shutil.which("nm"):
        pytest.skip("nm is not installed (binutils)")
    names = _symbols(libc.library_path(site.state_dir), "T")
    assert {name for name in names if not _OF_INTEREST.fullmatch(name)} <= set()


_JAVA = """
import java.io.*; import java.nio.file.*; import java.nio.channels.*;
import static java.nio.file.StandardOpenOption.*;
public class Writes {
    public static void main(String[] a) throws Exception {
        Path d = Files.createDirectory(Path.of("java"));
        Files.writeString(d.resolve("writeString"), "x");
        new FileOutputStream("java/stream").close();
        new RandomAccessFile("java/random", "rw").close();
        FileChannel.open(d.resolve("channel"), CREATE_NEW, WRITE).close();
        Files.copy(Path.of("/etc/passwd"), d.resolve("copy"));
        new File("java/createNewFile").createNewFile();
        Files.createTempFile(d, "temp", "");
        System.out.println(Files.getFileStore(d).type().length());
    }
}
"""


@pytest.mark.slow
def test_java_is_covered(site: LabLustre, tmp_path: Path) -> None:
    if not shutil.which("javac"):
        pytest.skip("no JDK")
    (tmp_path / "Writes.java").write_text(_JAVA)
    run(["javac", "-d", tmp_path, tmp_path / "Writes.java"])
    in_lab(site, f"java -Xshare:auto -XX:TieredStopAtLevel=1 -cp {tmp_path} Writes")
    files = sorted((site.mount / "java").iterdir())
    assert len(files) == 7
    for path in files:
        assert os.getxattr(path, "user.lustre.lov"), path
