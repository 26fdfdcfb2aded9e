"""One OST of the lab's Lustre is away: what needs its bytes fails and says so, all else goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from vas_core.errors import VasError
from vas_core.polling import poll
from vas_lab.lab import Lab
from vas_layout.model import Composite, Plain
from vas_layout.store import XattrStore
from vas_tests.faults import (
    MANIFEST,
    MAPS,
    PATIENCE_SECONDS,
    FaultyJob,
    Point,
    attempt,
    digests,
    faulty_job,
    finished,
    logs_kept,
    names,
    staging,
    states,
)
from vas_tests.in_lab import history, inside, vas_json
from vas_yarn.profiles import SHUFFLE

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)]
SHUTDOWN = "ESHUTDOWN"


@contextmanager
def away(lab: Lab, ost: int) -> Iterator[None]:
    """An OST that is away during the body."""
    name = f"osc.{lab.spec.cluster.lustre.fsname}-OST{ost:04x}-*.active"
    lab.call(["lctl", "set_param", f"{name}=0"])
    try:
        yield
    finally:
        lab.call(["lctl", "set_param", f"{name}=1"])


def hadoop_fs(lab: Lab, *words: str, check: bool = True) -> str:
    """What `hadoop fs` prints."""
    done = lab.call(["hadoop", "fs", *words], check=check)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def inputs(lab: Lab) -> Iterator[Path]:
    """Directories `there`, with a file on OST 1, and `beside`, with the same on OST 2."""
    root = inside(lab, "ost-away")
    lab.call(["rm", "-rf", str(root)])
    for name, ost in (("there", 1), ("beside", 2)):
        lab.call(["mkdir", "-p", str(root / name)])
        lab.call(["lfs", "setstripe", "-c", "1", "-i", str(ost), str(root / name / "words")])
        lab.call(["sh", "-c", f"seq 1000 > {root}/{name}/words"])
    yield root
    lab.call(["rm", "-rf", str(root)])


def test_R4_submission_history_and_jobs_of_other_data_go_on(lab: Lab, inputs: Path) -> None:
    with away(lab, 1):
        done = lab.run_job(["wordcount", "/ost-away/beside", "/ost-away/counted"])
        assert history(lab, f"mapreduce/jobs/{done.job_id}")["job"]["state"] == "SUCCEEDED"
        for directory in ("/", "/ost-away", "/ost-away/beside", "/ost-away/counted"):
            hadoop_fs(lab, "-ls", directory)
        counted = lab.call(["sh", "-c", f"cat {inputs}/counted/part-* | wc -l"]).stdout
        assert int(counted) == 1000
        with pytest.raises(VasError):
            lab.run_job(["wordcount", "/ost-away/there", "/ost-away/nothing"])
    assert lab.run_job(["wordcount", "/ost-away/there", "/ost-away/again"]).state == "SUCCEEDED"


def test_R4_a_job_needs_the_osts_of_its_input_alone(lab: Lab, terasort_input: str) -> None:
    """_SUCCESS of a job is on one OST: where any other one is away, the next job begins."""
    lab.call(["rm", "-rf", str(inside(lab, "requests/sorted"))])
    made = outside(lab, inside(lab, terasort_input.lstrip("/")))
    needed = {ost for path in made.iterdir() for ost in osts_outside(path) if path.name[0] == "_"}
    free = {ost for host in lab.spec.cluster.hosts for ost in host.osts} - needed
    assert free, f"_SUCCESS alone needs {needed}"
    lost = min(free)
    for path in made.glob("part-*"):
        if lost in osts_outside(path):
            shown = inside(lab, str(path.relative_to(lab.spec.lustre_state / "data")))
            lab.call(["lfs", "migrate", "-c", "1", "-i", str(min(needed)), str(shown)])
    with away(lab, lost):
        done = lab.run_job(["terasort", terasort_input, "/requests/sorted"])
        assert history(lab, f"mapreduce/jobs/{done.job_id}")["job"]["state"] == "SUCCEEDED"


def test_R4_the_error_names_the_file_and_the_ost(lab: Lab, inputs: Path) -> None:
    with away(lab, 1):
        for words in (["-ls", "/ost-away/there"], ["-cat", "/ost-away/there/words"]):
            said = hadoop_fs(lab, *words, check=False)
            (line,) = [line for line in said.splitlines() if SHUTDOWN in line]
            assert "/ost-away/there/words" in line, said
            assert "OST0001" in line, said


def test_H4_a_file_has_one_object_until_it_is_longer_than_a_block(lab: Lab) -> None:
    directory = inside(lab, "one-object")
    lab.call(["mkdir", "-p", str(directory)])
    all_osts = {ost for host in lab.spec.cluster.hosts for ost in host.osts}
    for size, osts in (("64k", 1), ("1M", len(all_osts))):
        source, target = directory / f"source-{size}", directory / size
        lab.call(["sh", "-c", f"head -c {size} /dev/zero > {source}"])
        hadoop_fs(
            lab, "-D", "vas.lustre.block-size=64k", "-put", f"file://{source}", in_hdfs(target)
        )
        lab.call(["lfs", "getstripe", str(target)])
        assert len(osts_outside(outside(lab, target))) == osts
        ranges = vas_json(lab, "layout", "locate", "--split", "64k", str(target))["ranges"]
        assert all(each["vm"] for each in ranges), "each block is one VM's"
    lab.call(["rm", "-r", str(directory)])


def test_R4_a_small_job_asks_the_osts_less_than_stocks_shuffle_did(
    lab: Lab, terasort_input: str
) -> None:
    """Stock's with an object on each OST, as files were made, is what 1.2 times is counted from.

    Of stock's with the same layouts, whose map output is on local disks, it is 1.2 times at most
    too, but for destroys: each map leaves two objects that stock's does not have.
    """
    before = requests(lab, terasort_input, {"vas.lustre.progressive": "false"})
    stock = requests(lab, terasort_input, {})
    ours = requests(lab, terasort_input, SHUFFLE)
    print(f"stock before {before}, stock {stock}, ours {ours}")
    for kind in ("glimpses", "syncs", "destroys"):
        assert ours[kind] <= 1.2 * before[kind], (kind, before, stock, ours)
    for kind in ("glimpses", "syncs"):
        assert ours[kind] <= 1.2 * stock[kind], (kind, stock, ours)
    assert ours["syncs"] <= stock["syncs"] + MAPS, (stock, ours)
    assert ours["destroys"] <= stock["destroys"] + 2 * MAPS + 1, (stock, ours)
    # Those of the job's own files, by lustre:///. The two files of each map output add none.
    assert 0 < ours["locks"] < stock["locks"] + MAPS, (stock, ours)


@pytest.fixture(scope="module")
def terasort_input(lab: Lab) -> Iterator[str]:
    """Input of four maps."""
    job = lab.run_job(["teragen", "4000", "/requests/in"], {"mapreduce.job.maps": str(MAPS)})
    log_files(lab, job.job_id.removeprefix("job_"))
    yield "/requests/in"
    lab.call(["rm", "-rf", str(inside(lab, "requests"))])


def requests(lab: Lab, source: str, conf: Mapping[str, str]) -> dict[str, int]:
    """Counts a TeraSort's requests to the OSTs, from its submission to the end of its files.

    Each node that had containers syncs and locks a file of logs: how many nodes that are is chance,
    so these are left out.
    """
    lab.call(["rm", "-rf", str(inside(lab, "requests/out"))])
    one = {
        "mapreduce.job.reduces": "3",
        "mapreduce.map.speculative": "false",
        "mapreduce.reduce.speculative": "false",
    }
    lab.object_requests(counting=True)
    job = lab.run_job(["terasort", source, "/requests/out"], one | dict(conf))
    number = job.job_id.removeprefix("job_")
    poll(
        lambda: [*staging(lab).glob(f"*/.staging/job_{number}")],
        lambda left: not left,
        PATIENCE_SECONDS,
        "the job's files to go",
    )
    logs = log_files(lab, number)
    counted = lab.object_requests(counting=False)
    syncs = sum(len(osts_outside(path)) for path in logs)
    less = {"syncs": counted["syncs"] - syncs, "locks": counted["locks"] - len(logs)}
    return counted | less


def log_files(lab: Lab, number: str) -> list[Path]:
    """An application's files of logs, one of each node, once YARN has them all."""
    logs_kept(lab, f"application_{number}")
    return [*(lab.spec.lustre_state / "data/yarn/logs").glob(f"*/*/*/application_{number}/*")]


def test_R5_outputs_on_an_ost_that_goes_away_are_made_again_elsewhere(
    lab: Lab, undisturbed: dict[str, str]
) -> None:
    last = Point("last-map", attempt("m_000003_0"), "renamed", MANIFEST)
    with faulty_job(lab, "ost-away", last, conf={"vas.shuffle.layout": "packed"}) as job:
        job.held(last.name)
        finished(job, names("m", 0) - {"m_000003_0"})
        keep_job_files_on_ost_0(lab, job)
        lost, ost = outputs_of_one_ost(job)
        with away(lab, ost):
            job.release(last.name)
            again = {name[:-1] + "1" for name in lost}
            poll(
                lambda: states(job, again),
                lambda found: found == {"SUCCEEDED"},
                PATIENCE_SECONDS,
                "the lost maps to run again",
            )
            assert all(ost not in osts_of(job, name) for name in again)
        assert job.succeeded().total_maps == MAPS + len(lost)
        assert set(job.failed()) == lost
    assert digests(lab, "ost-away") == undisturbed


def keep_job_files_on_ost_0(lab: Lab, job: FaultyJob) -> None:
    """Moves what the job needs besides map output: it is not what the test takes away."""
    (directory,) = staging(lab).glob(f"*/.staging/job_{job.number}")
    data = lab.spec.lustre_state / "data"
    files = [inside(lab, str(path.relative_to(data))) for path in directory.iterdir()]
    names_of_files = [str(path) for path in files if path.name != "shuffle"]
    lab.call(["lfs", "migrate", "-c", "1", "-i", "0", *names_of_files])


def outputs_of_one_ost(job: FaultyJob) -> tuple[set[str], int]:
    """The map attempts with output on some OST other than 0, and that OST."""
    osts = {name: osts_of(job, name) for name in names("m", 0)}
    (ost, *_) = sorted(set().union(*osts.values()) - {0})
    return {name for name, on in osts.items() if ost in on}, ost


def osts_of(job: FaultyJob, name: str) -> set[int]:
    """The OSTs of the map output of an attempt."""
    return {ost for path in job.output_of(name).iterdir() for ost in osts_outside(path)}


def outside(lab: Lab, path: Path) -> Path:
    """Where a file of the mount is seen from outside the lab."""
    return lab.spec.lustre_state / "data" / path.relative_to(inside(lab))


def in_hdfs(path: Path) -> str:
    """The name of a file of the mount for Hadoop."""
    return "/" + "/".join(path.parts[-2:])


def osts_outside(file: Path) -> set[int]:
    """The OSTs of a file that is seen from outside the lab."""
    layout = XattrStore("user.lustre.lov").read(file)
    parts = [c.layout for c in layout.components] if isinstance(layout, Composite) else [layout]
    return {item.ost_idx for part in parts if isinstance(part, Plain) for item in part.objects}
