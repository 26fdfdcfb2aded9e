"""The file of results: lines are appended, one writer at a time, and never changed.

A line is written by one write and made durable before `append` returns. A writer that was killed
can leave a part of its last line: that part is dropped, with a note. Any other line that is not a
run is damage, which is reported by its number. A report carries the same lines, in a script element
that no browser runs.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from vas_bench.results.record import BenchRun
from vas_core.errors import BadInput, VasError
from vas_core.files import fsync_directory
from vas_core.reading import read_limited
from vas_core.safe_open import what_is

_OPENING = '<script type="application/json" id="vas-runs">'
_CLOSING = "</script>"
# In a JSON string these may be written so, and then nothing in it ends the element or opens one.
_ESCAPES = str.maketrans(
    {
        "<": "\\u003c",
        ">": "\\u003e",
        "&": "\\u0026",
        "\u2028": "\\u2028",
        "\u2029": "\\u2029",
    }
)
_SHOWN = 10
_MAKE = "`vas bench run` makes some"
_MOST_BYTES = 1 << 30
_RUN = TypeAdapter(BenchRun)


@dataclass(frozen=True)
class DamagedLine:
    """A line that is not a run: its number, from 1, and what is wrong with it."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


@dataclass(frozen=True)
class Content:
    """The runs of a file of results; `torn_line` is the number of a last line cut short.

    `settings` are those of its header: the settings that all its runs have in common.
    """

    runs: tuple[BenchRun, ...]
    damaged: tuple[DamagedLine, ...] = ()
    torn_line: int | None = None
    settings: Mapping[str, JsonValue] | None = None


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    settings: dict[str, JsonValue]


_HEADER = b'{"settings":'


def parse(data: bytes) -> Content:
    """Returns the runs of a file's content, in order. Pure."""
    lines = data.split(b"\n")
    last = len(lines)
    seen: dict[str, int] = {}
    runs, damaged, torn = [], [], None
    settings: Mapping[str, JsonValue] | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if number == 1 and line.startswith(_HEADER):
                settings = _Header.model_validate_json(line).settings
                continue
            run = _RUN.validate_json(line)
        except ValidationError as wrong:
            if number == last:
                torn = number
            else:
                damaged.append(DamagedLine(number, _first(wrong)))
            continue
        if seen.setdefault(run.id, number) != number:
            damaged.append(DamagedLine(number, f"the same id as line {seen[run.id]}: {run.id}"))
        else:
            runs.append(run)
    return Content(tuple(runs), tuple(damaged), torn, settings)


def content_of(path: Path) -> Content:
    """Returns what a file of results holds, which is only looked at.

    Raises BadInput for anything but a regular file, and for one that is larger than results are;
    OSError where it cannot be read.
    """
    _refuse_irregular(path.stat(), path)
    return parse(read_limited(path, _MOST_BYTES))


def _refuse_irregular(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"is {what_is(found)}, not a regular file", where=str(path))


def _first(wrong: ValidationError) -> str:
    found = wrong.errors(include_url=False, include_input=False)[0]
    key = ".".join(str(part) for part in found["loc"])
    return f"{key}: {found['msg']}" if key else found["msg"]


def embed(runs: Sequence[BenchRun]) -> str:
    """Returns the script element of a report with all fields of every run."""
    lines = ",\n".join(run.model_dump_json() for run in runs)
    return f"{_OPENING}[\n{lines.translate(_ESCAPES)}\n]{_CLOSING}"


def embedded_lines(data: bytes) -> bytes:
    """Returns a report's runs as lines of a file of results; any other file unchanged."""
    start = data.find(_OPENING.encode())
    if start < 0:
        return data
    end = data.index(_CLOSING.encode(), start)
    runs = json.loads(data[start + len(_OPENING) : end])
    return b"".join(json.dumps(run).encode() + b"\n" for run in runs)


def read_results(
    path: Path, *, say: Callable[[str], None], skip_damaged: bool = False
) -> tuple[BenchRun, ...]:
    """Returns the runs of a file, or those that a report in HTML carries.

    Calls `say` with what it leaves out: a torn last line, and damaged lines if `skip_damaged`.
    Raises BadInput for damaged ones otherwise, for a file that cannot be read, and for one
    without a run.
    """
    try:
        data = read_limited(path, _MOST_BYTES)
    except OSError as wrong:
        raise BadInput(f"cannot be read: {wrong.strerror}", where=str(path)) from wrong
    _refuse_old(data, path)
    content = parse(embedded_lines(data))
    if _is_other(content, data):
        raise BadInput("is not a file of results", where=str(path), hint=_MAKE)
    if content.torn_line:
        say(f"{path}, line {content.torn_line}: cut short when its writer was killed; left out")
    if content.damaged and not skip_damaged:
        raise BadInput(
            _listed(content.damaged), where=str(path), hint="mend the lines, or --skip-damaged"
        )
    for damage in content.damaged:
        say(f"{path}, {damage}; left out")
    if not content.runs:
        raise BadInput("holds no run", where=str(path), hint=_MAKE)
    return content.runs


def _is_other(content: Content, data: bytes) -> bool:
    """Whether nothing in it is of a file of results: no settings, no run, nor a part of one."""
    nothing = content.settings is None and not content.runs
    return nothing and bool(data.strip()) and not data.lstrip().startswith(b'{"')


def _listed(damaged: tuple[DamagedLine, ...]) -> str:
    more = len(damaged) - _SHOWN
    shown = "; ".join(str(damage) for damage in damaged[:_SHOWN])
    return f"{shown}; and {more} more damaged lines" if more > 0 else shown


class RunStore:
    """Appends runs to a file. Use `RunStore.open`, which locks it."""

    def __init__(self, descriptor: int | None, content: Content) -> None:
        self._descriptor = descriptor
        self._content = content
        self._made: list[BenchRun] = []

    @property
    def content(self) -> Content:
        """The content of the file when it was opened."""
        return self._content

    @property
    def runs(self) -> tuple[BenchRun, ...]:
        """The runs that the file held, and those appended since."""
        return (*self._content.runs, *self._made)

    @classmethod
    @contextmanager
    def open(
        cls, path: Path | None, settings: Mapping[str, JsonValue] | None = None
    ) -> Iterator[RunStore]:
        """Opens a file, makes it where there is none, and cuts off a torn last line.

        Without a path the runs are kept in memory alone. `settings` become the header of a
        new file. Raises BadInput for a file with other settings or of an older VAS,
        VasError while another process has it open, OSError where it cannot be opened.
        Damaged lines are left as they are.
        """
        if path is None:
            yield cls(None, Content(()))
            return
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            _refuse_irregular(os.fstat(descriptor), path)
            _lock(descriptor, path)
            fsync_directory(path.parent)
            data = read_limited(path, _MOST_BYTES)
            _refuse_old(data, path)
            content = parse(data)
            _mend_end(descriptor, data, torn=content.torn_line is not None)
            if settings is not None:
                _check_settings(content, settings, path)
                if not path.stat().st_size:
                    _write_line(descriptor, _Header(settings=dict(settings)))
            yield cls(descriptor, content)
        finally:
            os.close(descriptor)

    def append(self, run: BenchRun) -> None:
        """Adds a line; it is durable on return. After an error the file is as before.

        Raises OSError, with nothing added, where the disk refuses it.
        """
        if self._descriptor is not None:
            _write_line(self._descriptor, run)
        self._made.append(run)


def _write_line(descriptor: int, of: BaseModel) -> None:
    end = os.lseek(descriptor, 0, os.SEEK_END)
    line = of.model_dump_json(exclude_defaults=False).encode() + b"\n"
    try:
        written = os.write(descriptor, line)
        if written != len(line):
            raise OSError(f"only {written} of {len(line)} bytes were written")
    except OSError:
        os.ftruncate(descriptor, end)
        raise
    os.fsync(descriptor)


def _refuse_old(data: bytes, path: Path) -> None:
    """Raises BadInput for one JSON document of many lines, as older versions kept runs."""
    if data.startswith(b"{\n"):
        what = "is not a file of runs of this version: each run was not a line of its own"
        raise BadInput(what, where=str(path), hint="give another file: its runs are made again")


def _check_settings(content: Content, settings: Mapping[str, JsonValue], path: Path) -> None:
    found = content.settings
    if found is None and (content.runs or content.damaged):
        hint = "give another file"
        raise BadInput("its runs do not name their settings", where=str(path), hint=hint)
    other = [key for key, value in settings.items() if (found or settings).get(key) != value]
    if other:
        hint = "give the same options, or another file"
        raise BadInput(f"its runs had another {', '.join(other)}", where=str(path), hint=hint)


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as held:
        hint = "wait for it, or give another file"
        raise VasError("another process writes to it", where=str(path), hint=hint) from held


def _mend_end(descriptor: int, data: bytes, *, torn: bool) -> None:
    if torn:
        os.ftruncate(descriptor, data.rfind(b"\n") + 1)
    elif data and not data.endswith(b"\n"):
        os.write(descriptor, b"\n")
    os.fsync(descriptor)
