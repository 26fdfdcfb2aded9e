"""Sessions on a site that is made up: what counts, what is kept, how they end and go on."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from vas_bench.engine.observe import Observer
from vas_bench.engine.play import Budget, Played, play_all
from vas_bench.engine.resume import left_to_do
from vas_bench.engine.rounds import Round, RunIdentity, draw_rounds, key_of
from vas_bench.results.record import BenchRun, Validation
from vas_bench.results.store import Content, RunStore, parse
from vas_bench.run import tez_history
from vas_bench.run.estimate import estimates
from vas_bench.run.experiments import Experiment, experiments
from vas_bench.run.plan import BenchPlan
from vas_bench.run.session import Details, OutputCheck, Session
from vas_core.errors import BadInput, VasError
from vas_core.progress import Step, Steps

PLAN = BenchPlan.model_validate(
    {"name": "p", "workloads": "terasort", "systems": ["yarn-lustre", "vas"], "rounds": 3}
)
HERE = {"kernel": "6.1", "processors": 2}
TURN_SECONDS = 10.0


class Killed(BaseException):
    """What kill -9 is to a session: nothing after it runs."""


@dataclass
class MadeUp:
    """A site where a job takes 10 s. What happens to the n-th run, from 1, is in `happens`."""

    happens: Mapping[int, Callable[[MadeUp], None]] = field(default_factory=dict)
    now: float = 0.0
    runs: int = 0
    is_right: bool = True
    kernel: str = "6.1"
    calls: list[str] = field(default_factory=list)

    def environment(self) -> dict[str, Any]:
        return HERE | {"kernel": self.kernel}

    def up(self, experiment: Experiment) -> None:
        self.calls.append("up")

    def prepare(self, experiment: Experiment) -> None:
        self.calls.append("prepare")

    def drop_caches(self) -> None:
        self.calls.append("drop_caches")

    def run(self, experiment: Experiment) -> dict[str, float]:
        self.calls.append("run")
        self.runs += 1
        self.now += TURN_SECONDS
        self.happens.get(self.runs, lambda _: None)(self)
        return {"job_seconds": TURN_SECONDS}

    def validate(self, experiment: Experiment) -> OutputCheck:
        self.calls.append("validate")
        right, self.is_right = self.is_right, True
        made = Validation(ok=right, check="made up", checksum="abc")
        return OutputCheck(made, "" if right else "rows were lost")

    def details(self, experiment: Experiment) -> Details:
        return Details({"map": 6.0})

    def down(self) -> None:
        self.calls.append("down")


def all_rounds(plan: BenchPlan = PLAN) -> list[Round[Experiment]]:
    of = [RunIdentity(each, {}, {}) for each in experiments(plan)]
    return draw_rounds(of, rounds=plan.rounds, warm_up=plan.warm_up, seed=plan.seed)


def play(
    site: MadeUp,
    drawn: list[Round[Experiment]],
    keep: Callable[[BenchRun], None] = lambda _: None,
    budget: float | None = None,
    shown: io.StringIO | None = None,
) -> Played[Experiment]:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    command, now = "vas bench run p.yaml", lambda: later(start, site)
    session = Session(site, Observer("p", command, HERE, site.environment, now))
    steps = Steps(
        [Step(round_.title, 1.0) for round_ in drawn],
        Path("none"),
        Console(file=shown or io.StringIO(), width=200),
    )
    return play_all(
        session.play,
        drawn,
        keep,
        progress=steps,
        estimates=estimates(drawn),
        budget=Budget(budget, lambda: site.now),
    )


def later(start: datetime, site: MadeUp) -> datetime:
    return start + timedelta(seconds=site.now)


def fail(site: MadeUp) -> None:
    raise VasError("the job ended with status 1:\nno room")


def spoil(site: MadeUp) -> None:
    site.is_right = False


def boot(site: MadeUp) -> None:
    site.kernel = "6.2"


def kill(site: MadeUp) -> None:
    raise Killed


def test_every_turn_is_a_run_and_warm_ups_do_not_count() -> None:
    site = MadeUp()
    ended = play(site, all_rounds())
    assert ended.left == ()
    assert [run.counts for run in ended.made] == [False] * 2 + [True] * 6
    assert [run.warm_up for run in ended.made] == [True] * 2 + [False] * 6
    assert site.calls == ["up", "prepare", "drop_caches", "run", "validate"] * 8
    first = ended.made[2]
    assert first.phases == {"map": 6.0, "unaccounted": 4.0}
    assert (first.round, first.command) == (1, "vas bench run p.yaml")
    assert first.validation == Validation(ok=True, check="made up", checksum="abc")


def test_a_run_that_fails_says_why_and_its_lab_is_not_the_next_ones() -> None:
    site = MadeUp({3: fail})
    ended = play(site, all_rounds())
    assert ended.made[2].invalid == "it failed: the job ended with status 1: no room"
    assert ended.made[2].measures == {}
    assert [run.invalid is None for run in ended.made] == [True] * 2 + [False] + [True] * 5
    assert site.calls.count("down") == 1


def unreadable(site: MadeUp) -> None:
    tez_history.parse('{"entity": 1\u0001{}\u0001')


def test_a_history_that_cannot_be_read_makes_a_run_invalid_and_the_plan_goes_on() -> None:
    ended = play(MadeUp({3: unreadable}), all_rounds())
    bad = ended.made[2]
    assert bad.invalid is not None
    assert bad.invalid.startswith("it failed: Tez's history of the job cannot be read")
    assert len(ended.made) == 8 and sum(run.counts for run in ended.made) == 5


def test_a_wrong_output_makes_a_run_invalid_and_the_session_goes_on() -> None:
    ended = play(MadeUp({3: spoil}), all_rounds())
    bad = ended.made[2]
    assert bad.invalid == "its output is wrong: rows were lost"
    assert bad.validation is not None and not bad.validation.ok
    assert sum(run.counts for run in ended.made) == 5


def test_a_changed_environment_makes_runs_invalid_from_then_on() -> None:
    with pytest.raises(VasError, match="3 runs in a row are INVALID"):
        play(MadeUp({4: boot}), all_rounds(), (kept := []).append)
    assert [run.invalid for run in kept[:3]] == [None] * 3
    assert kept[3].invalid == "the environment changed: kernel was 6.1 and is 6.2"
    assert kept[3].environment == HERE
    assert kept[4].environment["kernel"] == "6.2"


def test_one_failure_after_another_ends_the_session() -> None:
    kept: list[BenchRun] = []
    with pytest.raises(VasError, match="3 runs in a row") as ended:
        play(MadeUp({2: fail, 3: spoil, 4: fail}), all_rounds(), kept.append)
    assert "--resume" in str(ended.value)
    assert len(kept) == 4


def test_a_budget_begins_no_run_that_it_would_cut_off() -> None:
    site = MadeUp()
    drawn = all_rounds()
    # Two warm-ups are estimated, the others as long as these took.
    ended = play(site, drawn, budget=300.0)
    assert ended.left == ()
    site = MadeUp({2: lambda site: setattr(site, "now", 200.0)})
    ended = play(site, drawn, budget=225.0)
    assert len(ended.made) + len(ended.left) == len(drawn)
    assert 2 <= len(ended.made) < len(drawn)
    assert site.now <= 225.0
    assert ended.left == tuple(drawn[len(ended.made) :])


def test_what_is_left_is_said_by_what_runs_took_here() -> None:
    play(MadeUp(), all_rounds(), shown=(shown := io.StringIO()))
    first, *_, before_last, last = shown.getvalue().splitlines()
    assert "about 8 s left" in first
    # Two experiments that have both run.
    assert f"about {2 * TURN_SECONDS:.0f} s left" in before_last
    assert f"about {TURN_SECONDS:.0f} s left" in last


def test_no_time_at_all_is_no_run() -> None:
    ended = play(MadeUp(), all_rounds(), budget=1.0)
    assert (ended.made, len(ended.left)) == ((), 8)


@pytest.mark.unhurried
@given(st.lists(st.integers(1, 8), max_size=4), st.integers(0, 3))
def test_killed_and_resumed_as_often_as_one_likes_nothing_is_lost_or_doubled(
    tmp_path_factory: pytest.TempPathFactory, kills: list[int], seed: int
) -> None:
    plan = PLAN.model_copy(update={"seed": seed})
    file = tmp_path_factory.mktemp("runs") / "runs.jsonl"
    before: tuple[BenchRun, ...] = ()
    for at in [*kills, 1000]:
        with RunStore.open(file) as writer:
            assert writer.content.runs[: len(before)] == before
            before = writer.content.runs
            left = left_to_do(all_rounds(plan), writer.content, HERE, file=file, resume=True)
            # Later than the session before: two runs never begin at the same time.
            with suppress(Killed):
                play(MadeUp({at: kill}, now=1000.0 * len(before)), left, writer.append)
        with file.open("ab") as torn:
            torn.write(b'{"version":1,"id":"to')
    runs = parse(file.read_bytes()).runs
    keys = [key_of(run) for run in runs]
    assert sorted(keys) == sorted(round_.key for round_ in all_rounds(plan))


def test_a_run_that_was_invalid_runs_again_and_stays_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    with RunStore.open(file) as writer:
        play(MadeUp({3: fail}), all_rounds(), writer.append)
    with RunStore.open(file) as writer:
        left = left_to_do(all_rounds(), writer.content, HERE, file=file, resume=True)
        assert [round_.key for round_ in left] == [all_rounds()[2].key]
        play(MadeUp(now=5000.0), left, writer.append)
    runs = parse(file.read_bytes()).runs
    assert (len(runs), sum(run.counts for run in runs)) == (9, 6)


def test_more_rounds_go_on_from_fewer() -> None:
    made = play(MadeUp(), all_rounds()).made
    more = all_rounds(PLAN.model_copy(update={"rounds": 5}))
    left = left_to_do(more, Content(made), HERE, file=Path("f"), resume=True)
    assert [round_.number for round_ in left] == [4, 4, 5, 5]


def test_runs_in_the_file_are_not_gone_on_from_unasked() -> None:
    made = play(MadeUp(), all_rounds()).made
    with pytest.raises(BadInput, match="there are runs in it; give --resume"):
        left_to_do(all_rounds(), Content(made), HERE, file=Path("f"), resume=False)


def test_runs_of_another_environment_are_not_gone_on_from() -> None:
    made = play(MadeUp(), all_rounds()).made
    there = HERE | {"processors": 4}
    with pytest.raises(BadInput, match="processors was 2 and is 4"):
        left_to_do(all_rounds(), Content(made), there, file=Path("f"), resume=True)
    others = all_rounds(BenchPlan.model_validate(PLAN.model_dump() | {"systems": ["tez"]}))
    assert left_to_do(others, Content(made), there, file=Path("f"), resume=True) == others


def test_damaged_lines_are_not_gone_on_from(tmp_path: Path) -> None:
    lines = [run.model_dump_json() for run in play(MadeUp(), all_rounds()).made]
    broken = "\n".join([lines[0], json.dumps({"id": 3}), *lines[1:]]) + "\n"
    with pytest.raises(BadInput, match="line 2"):
        left_to_do(all_rounds(), parse(broken.encode()), HERE, file=tmp_path, resume=True)
