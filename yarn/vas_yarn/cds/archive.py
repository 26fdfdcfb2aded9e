"""Makes a node's class archive, and tells whether it still fits its JVM and jars.

The JVM checks its own version and the jars' sizes and times itself, and goes on without an archive
that does not fit. It does not check the archive's bytes: they are compared with a SHA-256 sum that
is kept next to the archive.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from zipfile import ZipFile

from pydantic import BaseModel, ConfigDict, ValidationError

from vas_core.errors import BadInput, VasError
from vas_core.files import fsync_directory, make_directories, write_atomically
from vas_core.predictable_names import CDS_CLASSES
from vas_core.process import run
from vas_core.safe_open import open_own
from vas_yarn.cds.training import check_jdk, train

DEFAULT_DIRECTORY = Path("/var/lib/vas/cds")
CLASSES = Path(__file__).with_name("classes.txt")
# Nothing written to /tmp. Without Hadoop's native library every chmod is a process: vfork saves the
# JDK's helper in between.
EVERY_TASK = ("-Djdk.lang.Process.launchMechanism=VFORK", "-XX:-UsePerfData")
_DUMP_TIMEOUT_SECONDS = 600
# The job's own jar where MapReduce unpacks it, and its files, in the container's directory.
_OF_THE_JOB = ("job.jar/job.jar", "job.jar/classes/", "job.jar/lib/*", ".", "./*")
# Jars of which every class goes into an archive, as no list of classes keeps up with them.
_WHOLE = "vas-*.jar"
_QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")


class ArchiveState(Enum):
    """The state of an archive: whether the jars and the JVM of this node can use it."""

    FITS = "fits"
    MISSING = "missing"
    STALE = "stale"
    DAMAGED = "damaged"


class ArchiveKind(Enum):
    """The kinds of archive: CDS has the classes of a list (any JDK), AOT those that a training run
    linked (JDK 25 or later)."""

    CDS = "cds"
    AOT = "aot"


class ArchiveRecord(BaseModel):
    """A note next to an archive: the JDK, the jars and the digests of what it was made of."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    java: str
    jars: int
    ingredients: str
    sha256: str


@dataclass(frozen=True)
class Ingredients:
    """The parts of an archive: a JDK, jars in the order of the class path, a class list."""

    java_home: Path
    jars: tuple[Path, ...]
    classes: Path = CLASSES

    @cached_property
    def java(self) -> str:
        """The JDK's version. Raises BadInput for a directory that is not a JDK."""
        release = self.java_home / "release"
        try:
            lines = release.read_text().splitlines()
        except OSError as wrong:
            hint = "set JAVA_HOME to a JDK"
            raise BadInput(
                f"cannot be read: {wrong.strerror}", where=str(release), hint=hint
            ) from None
        found = dict(line.partition("=")[::2] for line in lines)
        return found.get("JAVA_RUNTIME_VERSION", found.get("JAVA_VERSION", "")).strip('"')

    @cached_property
    def digest(self) -> str:
        """A SHA-256 over the JDK, the class list, and every jar's path, size and time, in order.

        Raises OSError if a jar or the class list cannot be read, BadInput as `java` does.
        """
        # On a site all jars have one time, and a link leads to the release that they are of.
        stats = ((jar, jar.resolve(), jar.stat()) for jar in self.jars)
        lines = [f"{jar} {file} {stat.st_size} {stat.st_mtime_ns}" for jar, file, stat in stats]
        text = "\n".join(
            (str(self.java_home.resolve()), self.java, *lines, self.classes.read_text())
        )
        return hashlib.sha256(text.encode()).hexdigest()


class ClassArchive:
    """The archive in `directory`, which only its owner may write: its classes run in tasks."""

    def __init__(self, directory: Path, kind: ArchiveKind = ArchiveKind.CDS) -> None:
        self._directory = directory
        self._kind = kind
        aot = kind is ArchiveKind.AOT
        self.file = directory / ("hadoop.aot" if aot else "hadoop.jsa")
        self._note = directory / ("hadoop.aot.json" if aot else "hadoop.json")

    def state(self, wanted: Ingredients) -> ArchiveState:
        """Returns whether the archive exists, is whole, and is made of `wanted`.

        Raises OSError for a jar that is gone, BadInput for a directory that is not a JDK.
        """
        if not self.file.exists():
            return ArchiveState.MISSING
        made = self._made()
        if made is None or made.ingredients != wanted.digest:
            return ArchiveState.STALE
        return ArchiveState.FITS if _sha256(self.file) == made.sha256 else ArchiveState.DAMAGED

    def build(self, wanted: Ingredients) -> bool:
        """Makes the archive unless one that fits is there; returns whether it made one.

        Takes about 10 CPU seconds, and replaces an archive that does not fit. JVMs that map the old
        one keep it. Raises BadInput for a JDK that cannot make this kind of archive, VasError if
        others may write the directory or the JVM fails, OSError if a file cannot be used.
        """
        if self._kind is ArchiveKind.AOT:
            check_jdk(wanted.java, wanted.java_home)
        self._prepare()
        with _locked(self._directory):
            if self.state(wanted) is ArchiveState.FITS:
                return False
            self._make(wanted)
            return True

    def _prepare(self) -> None:
        make_directories(self._directory)
        status = self._directory.stat()
        if status.st_mode & 0o022 or status.st_uid not in (0, os.geteuid()):
            raise VasError(
                "others may write it, and what is in an archive runs in everybody's tasks",
                where=str(self._directory),
                hint="chown it to root, chmod it 755",
            )

    def _make(self, wanted: Ingredients) -> None:
        new, classes = self._directory / ".new.jsa", self._directory / CDS_CLASSES.of()
        try:
            new.unlink(missing_ok=True)
            if self._kind is ArchiveKind.AOT:
                train(wanted.java_home / "bin/java", wanted.jars, new)
                _try(wanted, f"-XX:AOTCache={new}", "-XX:AOTMode=on")
            else:
                _dump(wanted, classes, new)
            new.chmod(0o644)
            _fsync(new)
            made = ArchiveRecord(
                java=wanted.java,
                jars=len(wanted.jars),
                ingredients=wanted.digest,
                sha256=_sha256(new),
            )
            new.rename(self.file)
            write_atomically(self._note, made.model_dump_json(indent=1) + "\n")
            fsync_directory(self._directory)
        finally:
            new.unlink(missing_ok=True)
            classes.unlink(missing_ok=True)

    def _made(self) -> ArchiveRecord | None:
        try:
            return ArchiveRecord.model_validate_json(self._note.read_bytes())
        except (OSError, ValidationError):
            return None


def _dump(wanted: Ingredients, classes: Path, archive: Path) -> None:
    # The JDK's own list first: an archive of ours takes the place of the JDK's.
    own = wanted.java_home / "lib" / "classlist"
    lists = (own.read_text() if own.exists() else "", wanted.classes.read_text())
    ours = (name for jar in wanted.jars if jar.match(_WHOLE) for name in _classes(jar))
    write_class_list(classes, "".join(lists) + "".join(f"{name}\n" for name in ours))
    java, class_path = wanted.java_home / "bin/java", ":".join(map(str, wanted.jars))
    flags = (f"-XX:SharedArchiveFile={archive}", *_QUIET, "-cp", class_path)
    dump = (java, "-Xshare:dump", f"-XX:SharedClassListFile={classes}", *flags)
    run(dump, timeout_seconds=_DUMP_TIMEOUT_SECONDS)
    _try(wanted, "-Xshare:on", f"-XX:SharedArchiveFile={archive}")


def _try(wanted: Ingredients, *flags: str) -> None:
    # With `on` the JVM refuses to start without the archive.
    words = (*flags, *_QUIET, "-cp", ":".join(map(str, wanted.jars)), "-version")
    run((wanted.java_home / "bin/java", *words), timeout_seconds=_DUMP_TIMEOUT_SECONDS)


def write_class_list(path: Path, text: str) -> None:
    """Writes the names of the classes that go into an archive. Raises as `open_own` does: Planted,
    OSError."""
    descriptor = open_own(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o644)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)


def _classes(jar: Path) -> Iterator[str]:
    with ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.startswith("org/") and name.endswith(".class"):
                yield name.removesuffix(".class")


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fsync(file: Path) -> None:
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def jvm_flags(archive: Path) -> tuple[str, ...]:
    """Returns the flags by which a JVM maps the archive, or starts without one that does not fit.

    By default JDK 17.0.15 maps an archive at a random address and rewrites every pointer in it.
    That takes a tenth of a JVM's start, and no two JVMs share the pages. The flags let it map the
    archive at the address that it was made for.
    """
    in_place = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
    if archive.suffix == ".aot":
        # A JDK before 24 does not know the option, and would not start.
        return (f"-XX:AOTCache={archive}", "-XX:+IgnoreUnrecognizedVMOptions", *in_place)
    return (f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", *in_place)


def class_path_argument(
    jars: str, directories: Sequence[Path | str], *, of_a_job: bool = True
) -> str:
    """Returns the class path line of a JVM's argument file: `jars` first, then directories.

    The JVM maps an archive only if the class path starts with the jars it was made of; YARN's
    own class path starts with the container's directory. `of_a_job` appends the job's files in
    that directory. A client goes without: it must not load classes of its current directory.
    """
    job = _OF_THE_JOB if of_a_job else ()
    return f'-cp "{":".join((jars, *map(str, directories), *job))}"'
