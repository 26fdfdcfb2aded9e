"""How workloads make and check their files: programs that play jobs on files of this test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from vas_bench.run.examples import Data
from vas_bench.run.plan import WorkloadName
from vas_bench.run.workloads import WORKLOADS, Dfsio, dfsio_rates
from vas_core.errors import VasError
from vas_core.process import Completed, run
from vas_lab.lab import Lab
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.systems import Arm
from vas_yarn.jobs.terasort import TeraSortSizes

# Two maps, a file each.
SIZES = TeraSortSizes(rows=32 << 15, split_bytes=50 << 20, generators=1, reducers=4)
ARM = Arm("vas", "VAS", "", {"a": "b"})
Job = Callable[[list[str]], None]


class FilesLab:
    """A lab whose mount is a directory; jobs are played, other programs are run."""

    def __init__(self, mount: Path, play: Job) -> None:
        self.spec = SimpleNamespace(cluster=SimpleNamespace(lustre=SimpleNamespace(mount=mount)))
        self.jobs: list[tuple[list[str], dict[str, str]]] = []
        self.jars: list[tuple[Path, ...]] = []
        self._play = play

    def refuse_broken(self) -> None:
        pass

    def call(self, argv: list[str]) -> Completed:
        return run(argv)

    def run_job(
        self, argv: list[str], conf: dict[str, str], jars: tuple[Path, ...] = (), **_: object
    ) -> JobResult:
        self.jobs.append((argv, conf))
        self.jars.append(jars)
        self._play(argv)
        numbers: dict[str, Any] = dict.fromkeys(
            ("seconds", "client_seconds", "wall_seconds", "cpu_seconds"), 1
        )
        ids = {"application_id": "a", "job_id": "j", "state": "SUCCEEDED"}
        return JobResult.model_validate(numbers | ids | {"counters": {}, "map_counters": {}})


# What the reducer of Hadoop's own wrote for two files of 64 MiB.
SUMS = "f:rate\t417000.0\nf:sqrate\t87453.5\nl:size\t134217728\nl:tasks\t2\nl:time\t640\n"


class PlayedDfsio:
    """What TestDFSIO does with its files; `appended` is what it appends."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.appended = b"01234567"

    def __call__(self, argv: list[str]) -> None:
        assert argv[2:] == ["-nrFiles", "2", "-size", "8B"]
        self.directory.mkdir(parents=True, exist_ok=True)
        for name in ("test_io_0", "test_io_1"):
            mode, text = ("wb", b"01234567") if argv[1] == "-write" else ("ab", self.appended)
            with (self.directory / name).open(mode) as out:
                out.write(text)
        sums = self.directory.parent / f"io_{argv[1][1:]}/part-00000"
        sums.parent.mkdir(exist_ok=True)
        sums.write_text(SUMS)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return tmp_path / "io/io_data"


@pytest.fixture
def program(files: Path) -> PlayedDfsio:
    return PlayedDfsio(files)


@pytest.fixture
def appending(tmp_path: Path, program: PlayedDfsio, monkeypatch: pytest.MonkeyPatch) -> Data:
    """TestDFSIO's append to two files of eight bytes."""
    monkeypatch.setattr(TeraSortSizes, "size_bytes", 16)
    monkeypatch.setattr(TeraSortSizes, "maps", 2)
    data = Dfsio(cast(Lab, FilesLab(tmp_path, program)), SIZES, "/io", "append")
    data.generate()
    return data


def content(files: Path) -> set[bytes]:
    return {file.read_bytes() for file in files.iterdir()}


def test_the_rates_of_testdfsio_are_those_that_it_prints() -> None:
    found = dfsio_rates(SUMS)
    assert found["dfsio_bytes_per_second/throughput"] == 200 * (1 << 20)
    assert found["dfsio_bytes_per_second/mean of maps"] == pytest.approx(208.5 * (1 << 20))
    for wrong in ("", "l:size\t1\n", "l:size\tmany\n", "one two three"):
        with pytest.raises(VasError, match="these are no sums of TestDFSIO"):
            dfsio_rates(wrong)


@pytest.mark.machine
def test_every_append_is_to_files_as_they_were_written(appending: Data, files: Path) -> None:
    for _ in range(2):
        assert "dfsio_bytes_per_second/throughput" in appending.run(ARM).printed
        assert content(files) == {b"01234567" * 2}
        appending.validate(ARM)
        assert content(files) == {b"01234567"}


@pytest.mark.machine
@pytest.mark.parametrize(
    ("appended", "problem"),
    [(b"0123", "24 bytes in the files, 32 were to be written"), (b"0123X567", "differ")],
)
def test_a_wrong_append_is_found_and_the_next_one_starts_afresh(
    appending: Data, program: PlayedDfsio, appended: bytes, problem: str
) -> None:
    right, program.appended = program.appended, appended
    appending.run(ARM)
    with pytest.raises(VasError, match=problem):
        appending.validate(ARM)
    program.appended = right
    appending.run(ARM)
    appending.validate(ARM)


@pytest.mark.machine
def test_what_a_failed_append_left_is_cut_off(
    appending: Data, program: PlayedDfsio, files: Path
) -> None:
    def fail(_: list[str]) -> None:
        (files / "test_io_0").write_bytes(b"01234567012")
        raise VasError("killed")

    lab = cast(FilesLab, cast(Any, appending)._lab)
    lab._play = fail
    with pytest.raises(VasError, match="killed"):
        appending.run(ARM)
    lab._play = program
    appending.run(ARM)
    appending.validate(ARM)


@pytest.mark.machine
@pytest.mark.parametrize(
    ("workload", "main", "kind"),
    [
        ("selfjoin", "SelfJoin", "associations"),
        ("invertedindex", "InvertedIndex", "documents"),
        ("sequencecount", "SequenceCount", "documents"),
        ("adjacencylist", "AdjacencyList", "edges"),
    ],
)
def test_a_heavy_job_has_a_made_file_for_each_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workload: Any, main: str, kind: str
) -> None:
    monkeypatch.setattr("vas_bench.run.own_jobs.workloads_jar", lambda: Path("/jar"))
    lab = FilesLab(tmp_path, lambda _: None)
    data = WORKLOADS[workload].data(cast(Lab, lab), SIZES, "/heavy")
    data.generate()
    data.run(ARM)
    (made, conf), (ran, told) = lab.jobs
    amount = [str(SIZES.size_bytes), "2", "1"]
    source = "org.vas.workloads"
    assert made == ["/jar", f"{source}.data.Generate", kind, *amount, "/heavy/input"]
    assert ran == ["/jar", f"{source}.heavy.{main}", "/heavy/input", "/heavy/output"]
    assert "a" not in conf and told["a"] == "b"
    assert (Path(__file__).parents[2] / _SOURCES / f"heavy/{main}.java").exists()


_SOURCES = "yarn-plugins/workloads/src/main/java/org/vas/workloads"


@pytest.mark.machine
@pytest.mark.parametrize("name", list(WORKLOADS))
def test_the_run_that_is_measured_has_the_jars_of_its_framework(
    name: WorkloadName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = tmp_path / "tez.jar"
    monkeypatch.setattr("vas_bench.run.own_jobs.workloads_jar", lambda: tmp_path / "workloads.jar")
    monkeypatch.setattr("vas_bench.run.workloads.workloads_jar", lambda: tmp_path / "w.jar")
    for mode in ("write", "read", "append"):
        (tmp_path / f"d/io_{mode}").mkdir(parents=True)
        (tmp_path / f"d/io_{mode}/part-00000").write_text(SUMS)
    lab = FilesLab(tmp_path, lambda _: None)
    data = WORKLOADS[name].data(cast(Lab, lab), SIZES, "/d")
    data.run(Arm("tez", "Tez", "", {"mapreduce.framework.name": "yarn-tez"}, (jar,)))
    ((_, told),) = lab.jobs
    assert lab.jars == [(jar,)]
    assert told["mapreduce.framework.name"] == "yarn-tez"
