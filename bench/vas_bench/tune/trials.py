"""Rounds of a search: the runs that a file of results already has are not made again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vas_bench.engine.play import AGAIN, Budget, StopRule, play_shown
from vas_bench.engine.rounds import Round, RoundKey, RunIdentity, key_of
from vas_bench.results.record import BenchRun
from vas_bench.run.estimate import estimates
from vas_bench.run.experiments import Experiment
from vas_core.errors import VasError


class OutOfTime(VasError):
    """The budget ends before the next run would."""


@dataclass
class FailedCandidates(StopRule[Experiment]):
    """Leaves out a candidate after its first INVALID run: what fails once is not recommended."""

    needed: RunIdentity[Experiment]
    _failed: set[str] = field(default_factory=set)

    def skips(self, round_: Round[Experiment]) -> bool:
        """Tells whether the candidate of a round has failed before."""
        return round_.identity.hash in self._failed

    def saw(self, round_: Round[Experiment], run: BenchRun) -> None:
        """Takes note of a run. Raises VasError where the needed one, the baseline, failed."""
        if run.invalid is None:
            return
        if round_.identity == self.needed:
            raise VasError(f"the baseline failed: {run.invalid}", hint=AGAIN)
        self._failed.add(round_.identity.hash)


@dataclass
class Trials:
    """Plays rounds, and keeps each run as soon as it ended.

    `learned` is the file that keeps how long they took; `done` are valid runs of before, by key.
    """

    play_round: Callable[[Round[Experiment]], BenchRun]
    keep: Callable[[BenchRun], None]
    learned: Path
    done: Mapping[RoundKey, BenchRun] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)

    def play(
        self, rounds: Sequence[Round[Experiment]], *, needed: RunIdentity[Experiment]
    ) -> dict[RoundKey, BenchRun]:
        """Returns the runs that count, by their rounds' keys.

        Raises VasError where a run of `needed` fails, OutOfTime where the budget ends
        before the rounds.
        """
        found = {each.key: self.done[each.key] for each in rounds if each.key in self.done}
        todo = [each for each in rounds if each.key not in found]

        def keep(run: BenchRun) -> None:
            self.keep(run)
            if run.invalid is None:
                found[key_of(run)] = run

        ended = play_shown(
            self.play_round,
            todo,
            keep,
            learned=self.learned,
            estimates=estimates(todo),
            budget=self.budget,
            stop=FailedCandidates(needed),
        )
        if ended.left:
            raise OutOfTime("the budget has ended before the search", hint="go on by --resume")
        return found
