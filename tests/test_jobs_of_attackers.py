"""Jobs of attackers and of careless users, by `vas submit` on the lab's YARN.

Each case says the right answer, which was written down before it was run.
"""

from __future__ import annotations

import re
import zlib
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import pytest

from vas_core.polling import poll
from vas_lab.lab import Lab
from vas_tests.adversary.jobs import DIRECTORY, AttackRun, Program, build, digests, victim
from vas_tests.faults import EXIT_SECONDS, staging
from vas_tests.in_lab import inside, resource_manager, vas_json
from vas_tests.leftovers import mentioning

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(600)]

SECRET = "of another user\n"


@pytest.fixture(scope="module")
def program(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The attackers' jar."""
    lab.call(["mkdir", "-p", str(inside(lab, DIRECTORY))])
    return Program(lab, build(lab, tmp_path_factory.mktemp("attack")))


@pytest.fixture
def someones(lab: Lab) -> Path:
    """A directory with a file, which no job has to do with."""
    directory = victim(lab)
    lab.call(["rm", "-rf", str(directory)])
    lab.call(["mkdir", "-p", str(directory)])
    lab.call(["sh", "-euc", 'printf "%s" "$1" >"$2"', "sh", SECRET, str(directory / "file")])
    return directory


def words(count: int, step: int) -> list[str]:
    """Lines that begin with ten different letters, many of them more than once."""
    return [f"{chr(97 + i * step % 10)}{i * 7919 % 4001}" for i in range(count)]


def both(
    program: Program, case: str, conf: dict[str, object] | None = None
) -> tuple[AttackRun, AttackRun]:
    """The same job with stock's shuffle and with ours, beside one another."""
    with ThreadPoolExecutor(2) as pool:
        stock, ours = pool.map(lambda p: program.run(case, p, conf), ("off", "default"))
    assert (stock.status, ours.status) == (0, 0), stock.said + ours.said
    return stock, ours


def assert_nothing_left(ran: AttackRun) -> None:
    """No container of the job lives, and none of its map output is there."""
    poll(lambda: mentioning(ran.number), lambda left: not left, EXIT_SECONDS, "its containers")

    def outputs() -> list[Path]:
        return [*staging(ran.lab).glob(f"*/.staging/job_{ran.number}/shuffle/*")]

    poll(outputs, lambda left: not left, EXIT_SECONDS, "its map output to go")


def test_W1_scratch_space_in_static_fields_gives_what_it_gives_in_stock(program: Program) -> None:
    """Key class, comparator, grouping comparator and codec share static buffers.

    Right: one group for each of ten letters, its keys in order; stock's bytes.
    """
    # Several times what a merge in a thread of its own would have ahead.
    lines = [[word.ljust(56, "x") for word in words(40_000, step)] for step in (3, 7)]
    program.write("scratch", a=lines[0], b=lines[1])
    # Stock decompresses in as many threads as it fetches with.
    stock, ours = both(program, "scratch", {"mapreduce.reduce.shuffle.parallelcopies": 1})
    assert ours.lines() == digests(chain(*lines), prefix=1)
    assert stock.lines() == ours.lines()
    assert_nothing_left(ours)


def test_W1_a_class_with_the_name_of_hadoops_is_the_jobs(program: Program) -> None:
    """The job's jar has an org.apache.hadoop.io.IntWritable that sorts and is written backwards.

    Right: numbers from the largest to the smallest, as in stock. The class path is the one that
    YARN sets, with the job's jar first: vas-child.args has another one, with that last.
    """
    numbers = [i * 7919 % 4001 for i in range(5000)]
    program.write("forged", a=[f"n{number}" for number in numbers])
    kinds = ("mapreduce.map.java.opts", "mapreduce.reduce.java.opts")
    stock, ours = both(program, "forged", dict.fromkeys(kinds, "-Xmx288m -cp $CLASSPATH"))
    counts = {number: numbers.count(number) for number in set(numbers)}
    assert ours.lines() == [f"{n}\t{counts[n]}" for n in sorted(counts, reverse=True)]
    assert stock.lines() == ours.lines()


def test_H2_a_comparator_that_never_returns_fails_the_job_within_a_bound(program: Program) -> None:
    """Right: the reducer is ended 15 s after its last sign of life, and no container stays."""
    program.write("hang", a=words(50, 3), b=words(50, 7))
    timeout = {
        "mapreduce.task.timeout": 15000,
        "mapreduce.task.timeout.check-interval-ms": 500,
        "mapreduce.reduce.maxattempts": 1,
    }
    ran = program.run("hang", conf=timeout)
    assert ran.status == 1
    ended = ran.attempts()["r_000000_0"]
    assert ended.state == "FAILED" and re.search("(?i)timed? ?out", ended.error), ended
    app = resource_manager(ran.lab, f"apps/{ran.application}")["app"]
    assert app["finalStatus"] == "FAILED"
    assert app["elapsedTime"] < 180_000
    assert_nothing_left(ran)


def test_N6_a_job_has_as_many_counters_of_its_own_as_in_stock(program: Program) -> None:
    """112 counters in 47 groups: with two of input and output formats and six of stock's fetchers,
    in three groups, that is all of Hadoop's bounds of 120 and 50.

    Right: both jobs succeed; a counter more than the site allows fails the job with its reason.
    """
    lines = words(60, 3)
    program.write("counting", a=lines)
    stock, ours = both(program, "counting", {"attack.counters": 112, "attack.groups": 47})
    assert stock.lines() == ours.lines() == digests(lines)
    ran = program.run("counting", conf={"attack.counters": 140, "mapreduce.map.maxattempts": 1})
    assert ran.status == 1
    assert "Too many counters: 140 max=139" in ran.attempts()["m_000000_0"].error


def test_what_is_refused_and_swallowed_costs_nothing_else(program: Program) -> None:
    """Nulls, partitions out of range, keys and values that fail half written (3 MiB into a buffer
    of 1 MiB), a value that cannot be read at first: mapper and reducer catch that and go on.

    Right: what was not refused is there, once; as in stock.
    """
    lines = words(60, 3)
    program.write("swallow", a=lines, b=lines)
    stock, ours = both(program, "swallow")
    expected = [f"{w}\t{4 * lines.count(w)} {6 * lines.count(w)}" for w in sorted(set(lines))]
    assert sorted(ours.lines()) == expected
    assert stock.lines() == ours.lines()
    assert_nothing_left(ours)


def test_D3_crimes_of_maps_fail_their_own_attempts(program: Program, someones: Path) -> None:
    """Each map's first attempt does what its file is called: ends its JVM with status 0, deletes
    its own output, plants links at manifest.tmp and packed.mof, or FIFOs and links in the
    directories of its next attempt and of the reducer; one map emits from four threads at once.

    Right: these attempts fail, with the path where one was planted; others have the whole output
    right; somebody's file is as it was, under one name.
    """
    crimes = ("exit", "delete", "manifest", "hard", "next", "threads")
    lines = {crime: words(400, 3) for crime in crimes}
    program.write("crimes", **lines)
    conf = {"attack.victim": someones / "file", "vas.shuffle.layout": "packed"}
    ran = program.run("crimes", conf=conf)
    assert ran.status == 0, ran.said
    assert ran.lines() == digests(chain(*lines.values()))
    failed = {a.name: a.error for a in ran.attempts().values() if a.state != "SUCCEEDED"}
    assert len(failed) == 6, {name: error[:200] for name, error in failed.items()}
    assert all(name[0] == "m" for name in failed)
    told = "\n".join(failed.values())
    assert "manifest.tmp" in told and "packed.mof" in told, told
    assert any("another process has worked" in e for n, e in failed.items() if n[-1] == "1"), told
    assert_nothing_left(ran)
    assert_untouched(ran.lab, someones)


def assert_untouched(lab: Lab, directory: Path) -> None:
    """Somebody's file is as it was, and has no second name."""
    said = lab.call(["stat", "-c", "%h %s", str(directory / "file")]).stdout.split()
    assert said == ["1", str(len(SECRET))]
    assert lab.call(["cat", str(directory / "file")]).stdout == SECRET


def test_S4_a_link_in_the_place_of_the_jobs_map_output(program: Program, someones: Path) -> None:
    """A map puts a link to somebody's directory in the place of the job's map output; there is a
    directory of the attempt's name with a file in it.

    Right: the job fails or succeeds, and nothing of that directory is removed or written over, by
    its end, by the node service or by the janitor.
    """
    lines = words(200, 3)
    program.write("linked", a=lines)
    ran = program.run("linked", conf={"mapreduce.map.maxattempts": 2})
    if ran.status == 0:
        assert ran.lines() == digests(lines)
    poll(lambda: mentioning(ran.number), lambda left: not left, EXIT_SECONDS, "its containers")
    manager = f"http://{ran.lab.spec.cluster.yarn.resourcemanager.name}:8088"
    gc = ("shuffle", "gc", "--staging", str(inside(ran.lab, "yarn", "staging")))
    for _ in range(2):
        vas_json(ran.lab, *gc, "--resourcemanager", manager, "--grace", "0s")
    assert_untouched(ran.lab, someones)
    kept = someones / f"attempt_{ran.number}_m_000000_0" / "keep"
    assert ran.lab.call(["cat", str(kept)]).stdout == "kept\n"


def test_a_key_of_512_mib(program: Program) -> None:
    """Right: it arrives whole, in order between small ones."""
    program.write("large", a=["b512", "a1", "c2"])
    heap = {
        "mapreduce.map.java.opts": "-Xmx4g",
        "mapreduce.reduce.java.opts": "-Xmx4g",
        "mapreduce.map.memory.mb": 700,
        "mapreduce.reduce.memory.mb": 700,
    }
    ran = program.run("large", conf=heap)
    assert ran.status == 0, ran.said
    sizes = [(1, b"a"), (512, b"b"), (2, b"c")]
    assert ran.lines() == [f"{n << 20}\t{zlib.crc32(byte * (n << 20))}" for n, byte in sizes]
    assert_nothing_left(ran)
