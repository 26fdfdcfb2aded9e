"""Random histories of jobs over a fake store: the janitor's rule never takes what is read."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from vas_yarn.resourcemanager import ApplicationLife, Doubt
from vas_yarn.shuffle.janitor.rule import Clock, JanitorDecision, judge, judge_quarantined, learned

GRACE = 100


@dataclass
class Job:
    """One job: what its maps published, and what the ResourceManager can tell of it."""

    published: set[int] = field(default_factory=set)
    files: dict[int, int] | None = field(default_factory=dict)
    """Map -> attempt whose output is there; None when the directory is gone."""
    ended: int | None = None
    known: bool = True
    private: bool = False
    """Its owner hides its times from the janitor."""
    strange: bool = False
    """The ResourceManager answers nonsense about it."""

    def life(self) -> ApplicationLife | Doubt | None:
        if self.strange:
            return Doubt("nonsense")
        is_over = self.ended is not None
        return (
            ApplicationLife(is_over, None if self.private else self.ended) if self.known else None
        )


class Shuffles(RuleBasedStateMachine):
    """Publish, read, retry, end, cleanup, crash, forget, and the janitor in between."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.jobs: dict[str, Job] = {}
        self.quarantine: dict[str, int] = {}
        self.remembered: dict[str, int] = {}
        self.quarantined_at: dict[str, int] = {}

    def some(self, data: st.DataObject) -> Job:
        return self.jobs[data.draw(st.sampled_from(sorted(self.jobs)))]

    @rule(private=st.booleans())
    def submit(self, private: bool = False) -> None:
        self.jobs[f"job_1_{len(self.jobs):04d}"] = Job(private=private)

    @precondition(lambda self: self.jobs)
    @rule(data=st.data(), strange=st.booleans())
    def resourcemanager_is_confused(self, data: st.DataObject, strange: bool) -> None:
        self.some(data).strange = strange

    @precondition(lambda self: self.jobs)
    @rule(data=st.data(), task=st.integers(0, 3))
    def publish_or_retry(self, data: st.DataObject, task: int) -> None:
        job = self.some(data)
        if job.ended is None:
            assert job.files is not None, "a live job's directory is gone"
            job.files[task] = job.files.get(task, -1) + 1
            job.published.add(task)

    @precondition(lambda self: self.jobs)
    @rule(data=st.data(), cleans_up=st.booleans())
    def end(self, data: st.DataObject, cleans_up: bool) -> None:
        job = self.some(data)
        if job.ended is None and job.known:
            job.ended = self.now
            job.files = None if cleans_up else job.files

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def resourcemanager_forgets(self, data: st.DataObject) -> None:
        self.some(data).known = False

    @rule(seconds=st.integers(1, 3 * GRACE))
    def pass_time(self, seconds: int) -> None:
        self.now += seconds

    @rule(users=st.integers(1, 3), left=st.sets(st.integers(0, 9)))
    def janitor(self, users: int = 1, left: Set[int] = frozenset()) -> None:
        """One run, user by user; `left` are those that it leaves for the next one."""
        there = [name for name, job in self.jobs.items() if job.files is not None]
        for user in range(users):
            own = [name for name in there if int(name[-4:]) % users == user]
            self.look_at([name for name in own if int(name[-4:]) not in left])
        self.remembered = {job: at for job, at in self.remembered.items() if job in there}

    def look_at(self, names: list[str]) -> None:
        lives = {name: self.jobs[name].life() for name in names}
        for judged in judge(lives, self.remembered, Clock(self.now, GRACE), {}):
            if judged.verdict is JanitorDecision.QUARANTINE:
                self.jobs[judged.job].files = None
                self.quarantine[judged.job] = self.now
        waiting = judge_quarantined(self.quarantine.items(), self.now, GRACE)
        self.remembered = learned(lives, self.remembered, self.now)
        for judged in waiting:
            if judged.verdict is JanitorDecision.DELETE:
                job = self.jobs[judged.job]
                assert job.ended is not None
                assert self.now - job.ended >= 2 * GRACE
                del self.quarantine[judged.job]

    @invariant()
    def reducers_of_live_jobs_read_every_published_map(self) -> None:
        for job in self.jobs.values():
            if job.ended is None:
                assert job.files is not None
                assert job.published <= job.files.keys()

    def teardown(self) -> None:
        for job in self.jobs.values():
            job.strange = False
            if job.ended is None:
                job.known, job.ended = True, self.now
        for _ in range(3):
            self.now += GRACE
            self.janitor()
        left = [job for job in self.jobs.values() if job.files is not None]
        assert all(not job.known for job in left), "only what nobody knows may stay"
        assert not self.quarantine


Shuffles.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
TestShuffles = Shuffles.TestCase


def test_a_rule_that_takes_the_unknown_for_over_loses_live_output() -> None:
    unknown: dict[str, ApplicationLife | None] = {"job_1_0000": None}
    clock = Clock(10 * GRACE, GRACE)
    assert judge(unknown, {}, clock, {"job_1_0000": 0})[0].verdict is JanitorDecision.UNKNOWN
    machine = Shuffles()
    machine.submit()
    machine.jobs["job_1_0000"].known = False
    machine.remembered = {"job_1_0000": 0}  # what such a rule would believe
    machine.now = 10 * GRACE
    machine.janitor()
    with pytest.raises(AssertionError):
        machine.reducers_of_live_jobs_read_every_published_map()


def test_L1_what_one_run_leaves_for_the_next_is_not_forgotten() -> None:
    machine = Shuffles()
    machine.submit()
    machine.jobs["job_1_0000"].ended = 0
    machine.janitor()
    machine.janitor(left={0})
    machine.jobs["job_1_0000"].known = False
    machine.now = GRACE
    machine.janitor()
    assert machine.jobs["job_1_0000"].files is None
