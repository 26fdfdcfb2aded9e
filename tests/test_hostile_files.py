"""Every command that reads somebody else's file or tree has a limit, and reports one error.

The size limits are met by sparse files: what is refused is not read.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_bench.results.store import RunStore
from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_core.repository import REPOSITORY
from vas_image.image import SUMS, check_sums

# Enough for the program, far too little for a file without an end.
_MEMORY_BYTES = 1 << 30

READERS = {
    "layout decode": ["layout", "decode", "{file}"],
    "layout put": ["layout", "put", "{file}", "{directory}/new"],
    "cluster check": ["cluster", "show", "--cluster", "{file}"],
    "affinity show": ["affinity", "show", "--from", "{file}"],
    "affinity map": ["affinity", "map", "--from", "{machine}", "{file}"],
    "affinity plot": ["affinity", "plot", "{file}", "--out", "{directory}/plot.svg"],
    "affinity verify": ["affinity", "verify", "{file}"],
    "guest settings": ["guest", "xml", "vm1", "--cluster", "{map}", "--settings", "{file}"],
    "guest placement": ["guest", "xml", "vm1", "--cluster", "{map}", "--placement", "{file}"],
    "lint": ["lint", "{file}"],
    "job lint": ["job", "lint", "{file}"],
    "bench stats": ["bench", "stats", "{file}"],
    "bench report": ["bench", "report", "{file}", "--out", "{directory}/r.html"],
    "bench run": ["bench", "run", "{file}", "--dry-run"],
    "bench resume": ["bench", "run", "{plan}", "--resume", "--out", "{file}", "--dry-run"],
    "image box key": ["image", "box", "{directory}", "--key", "{file}"],
    "bench usl": ["bench", "usl", "{file}"],
    "a2av explain": ["a2av", "explain", "--ranks", "8", "--size", "64", "--network", "{file}"],
    "provision audit": ["provision", "audit", "--advisories", "{file}"],
}

pytestmark = pytest.mark.machine


@pytest.fixture
def little_memory() -> Iterator[None]:
    """A file without an end is a MemoryError soon, not a machine that swaps."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY_BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def _fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def _sparse(path: Path) -> Path:
    path.touch()
    os.truncate(path, 1 << 41)
    return path


@pytest.mark.timeout(30)
@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("kind", ["device", "fifo", "huge", "link to a device", "directory"])
@pytest.mark.parametrize("name", READERS)
def test_O7_a_reader_of_a_users_file_has_a_limit(
    name: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind == "directory" and name == "affinity show":
        pytest.skip("takes directories")
    if kind == "huge" and name == "layout put":
        pytest.skip("streams what it reads")
    file = tmp_path / "given"
    match kind:
        case "device":
            file = Path("/dev/zero")
        case "fifo":
            _fifo(file)
        case "huge":
            _sparse(file)
        case "link to a device":
            file.symlink_to("/dev/zero")
        case _:
            file.mkdir()
    places = {
        "file": file,
        "directory": tmp_path,
        "machine": REPOSITORY / "affinity/tests/machines/16intel64-manyVFs.xml",
        "map": REPOSITORY / "cluster/examples/laptop-lab.yaml",
        "plan": REPOSITORY / "bench/plans/quick.yaml",
    }
    status = run_command([word.format(**places) for word in READERS[name]])
    said = capsys.readouterr()
    assert status in (1, 2), said
    assert said.out == ""
    first, *others = said.err.splitlines()
    assert first.startswith("vas: "), said.err
    # A document's other problems have a line each.
    assert all(line.startswith(f"vas: {file}: ") for line in others), said.err


@pytest.mark.timeout(30)
@pytest.mark.usefixtures("little_memory")
def test_O7_results_are_appended_to_regular_files_alone(tmp_path: Path) -> None:
    for file in (Path("/dev/zero"), _fifo(tmp_path / "fifo")):
        with pytest.raises(BadInput, match="not a regular file"), RunStore.open(file):
            pass
    with pytest.raises(BadInput, match="larger than"), RunStore.open(_sparse(tmp_path / "huge")):
        pass


@pytest.mark.timeout(30)
@pytest.mark.usefixtures("little_memory")
def test_O7_the_check_sums_of_an_image_have_a_limit(tmp_path: Path) -> None:
    (tmp_path / SUMS).symlink_to("/dev/zero")
    with pytest.raises(BadInput, match="is a device"):
        list(check_sums(tmp_path))
    (tmp_path / SUMS).unlink()
    (tmp_path / SUMS).write_text("00  named\n")
    (tmp_path / "named").symlink_to("/dev/zero")
    assert list(check_sums(tmp_path)) == [("named", False)]
