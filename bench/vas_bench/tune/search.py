"""A search from its plan to its verdict, on whatever site its trials are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vas_bench.engine.rounds import Round, RunIdentity, draw_rounds
from vas_bench.results.measures import JOB_SECONDS
from vas_bench.run.experiments import Experiment
from vas_bench.statistics.compare import ArmDifference, compare
from vas_bench.statistics.gain import BetterDirection
from vas_bench.tune.halving import Rung, RungOutcome, halve, sizes
from vas_bench.tune.plan import TunePlan
from vas_bench.tune.space import BASELINE, Space, TunePoint
from vas_bench.tune.trials import Trials
from vas_core.errors import VasError


@dataclass(frozen=True)
class TuneVerdict:
    """The comparisons of every finalist with the baseline, with Holm's correction."""

    differences: tuple[ArmDifference, ...]

    @property
    def recommended(self) -> ArmDifference | None:
        """The fastest of the finalists that are significantly better; None if none is."""
        better = [each for each in self.differences if each.improved]
        return min(better, key=lambda each: each.ratio.value, default=None)

    @property
    def in_words(self) -> str:
        """The recommendation and its reason, or a sentence that nothing is recommended."""
        found = self.recommended
        if found is None:
            return "no change is recommended: none is significantly better than the baseline"
        others = [each.pair.arm for each in self.differences if each.improved and each is not found]
        said = f"recommended: {found.pair.arm}: {found.verdict}"
        return (
            f"{said}; also better: {'; '.join(others)} (not compared with it)" if others else said
        )


def judged(samples: Mapping[str, Sequence[float]]) -> TuneVerdict:
    """Judges times by finalist, and the baseline's; the n-th of each are of one round.

    Raises BadInput where the baseline has no run. Without finalists nothing is recommended.
    """
    if len(samples) < 2:
        return TuneVerdict(())
    return TuneVerdict(tuple(compare(samples, BASELINE, BetterDirection.LOWER, paired=True)))


Say = Callable[[str], None]


@dataclass(frozen=True)
class TuneResult:
    """The result of a search: its rungs, the times that decided, and the verdict."""

    space: Space
    outcomes: tuple[RungOutcome[TunePoint], ...]
    finalists: tuple[TunePoint, ...]
    samples: Mapping[str, Sequence[float]]
    verdict: TuneVerdict

    @property
    def recommended(self) -> TunePoint | None:
        """The recommended point; None if none is."""
        best = self.verdict.recommended
        names = {self.space.name(point): point for point in self.finalists}
        return names[best.pair.arm] if best else None


@dataclass(frozen=True)
class Finder:
    """A search: a plan's space, the identity of each point's runs, and the trials that play them.

    Runs of the search are warm-ups in the file of results: they chose, so they must not judge.
    """

    plan: TunePlan
    space: Space
    identities: Mapping[TunePoint, RunIdentity[Experiment]]
    trials: Trials
    say: Say = field(default=lambda _: None)

    def find(self) -> TuneResult:
        """Halves the candidates, then compares the finalists with the baseline.

        Raises VasError where the baseline fails, or no candidate runs; OutOfTime where the
        budget ends.
        """
        self._warm_up()
        outcomes = self._search()
        last = outcomes[-1].kept if outcomes else self.space.candidates
        if not last:
            raise VasError("no candidate has a run that counts", hint="see the reasons above")
        samples = self._confirm(last)
        return TuneResult(self.space, tuple(outcomes), last, samples, judged(samples))

    def _warm_up(self) -> None:
        self._play([self.space.baseline], self.plan.warm_up, 0, search=True)

    def _search(self) -> list[RungOutcome[TunePoint]]:
        def measure(rung: Rung[TunePoint]) -> dict[TunePoint, list[float]]:
            self.say(f"rung {rung.number}: {len(rung.contenders)} candidates, {rung.runs} each")
            return self._play(rung.contenders, rung.runs, rung.before, search=True)

        outcomes = halve(
            self.space.candidates,
            measure,
            runs=self.plan.search.runs,
            keep_one_in=self.plan.search.keep_one_in,
            finalists=self.plan.confirm.finalists,
        )
        return list(outcomes)

    def _confirm(self, finalists: Sequence[TunePoint]) -> dict[str, list[float]]:
        rounds = self.plan.confirm.rounds
        self.say(f"confirming {len(finalists)} against the baseline, {rounds} rounds")
        seconds = self._play([self.space.baseline, *finalists], rounds, 0, search=False)
        whole = (point for point in seconds if len(seconds[point]) == rounds)
        return {self.space.name(point): seconds[point] for point in whole}

    def _play(
        self, points: Sequence[TunePoint], rounds: int, before: int, *, search: bool
    ) -> dict[TunePoint, list[float]]:
        """Job times in order of rounds, of the runs that count."""
        those = [self.identities[point] for point in points]
        drawn = rounds_of(those, rounds, before, self.plan.seed, search=search)
        runs = self.trials.play(drawn, needed=self.identities[self.space.baseline])
        found: dict[TunePoint, list[float]] = {point: [] for point in points}
        points_by_hash = {self.identities[point].hash: point for point in points}
        for each in sorted(drawn, key=lambda each: each.number):
            if each.key in runs:
                seconds = runs[each.key].measures[JOB_SECONDS]
                found[points_by_hash[each.identity.hash]].append(seconds)
        return found


def rounds_of(
    identities: Sequence[RunIdentity[Experiment]],
    rounds: int,
    before: int,
    seed: int,
    *,
    search: bool,
) -> list[Round[Experiment]]:
    """Draws rounds that follow `before` earlier ones, each in an order drawn by lot."""
    drawn = draw_rounds(
        identities,
        rounds=0 if search else rounds,
        warm_up=rounds if search else 0,
        seed=seed + before,
    )
    return [replace(each, number=each.number + before) for each in drawn]


def planned(
    plan: TunePlan, space: Space, identities: Mapping[TunePoint, RunIdentity[Experiment]]
) -> dict[str, list[Round[Experiment]]]:
    """Returns stage -> rounds if nothing fails, as if the first candidates went on."""
    base = identities[space.baseline]
    those = [identities[point] for point in space.candidates]
    stages, before = {"warm-up": rounds_of([base], plan.warm_up, 0, plan.seed, search=True)}, 0
    rungs = sizes(
        len(those),
        runs=plan.search.runs,
        keep_one_in=plan.search.keep_one_in,
        finalists=plan.confirm.finalists,
    )
    for number, (contenders, runs) in enumerate(rungs, 1):
        drawn = rounds_of(those[:contenders], runs, before, plan.seed, search=True)
        stages[f"rung {number}"], before = drawn, before + runs
    last = [base, *those[: plan.confirm.finalists]]
    return stages | {"confirm": rounds_of(last, plan.confirm.rounds, 0, plan.seed, search=False)}
