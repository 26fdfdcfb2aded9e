"""Whose turn it is: rounds in which every experiment runs once, in an order drawn by lot. Pure."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vas_bench.results.record import BenchRun
from vas_bench.run.experiments import Experiment, Identity


@dataclass(frozen=True)
class Turn:
    """One run to be made. Rounds count from 1, those of the warm-up by themselves."""

    identity: Identity
    round: int
    warm_up: bool

    @property
    def experiment(self) -> Experiment:
        """What runs."""
        return self.identity.experiment

    @property
    def key(self) -> tuple[str, int, bool]:
        """What no two runs that count have in common."""
        return self.identity.hash, self.round, self.warm_up

    @property
    def title(self) -> str:
        """In words."""
        kind = "warm-up" if self.warm_up else "round"
        return f"{kind} {self.round}: {self.experiment.title}"


def draw_turns(
    identities: Sequence[Identity], *, rounds: int, warm_up: int, seed: int
) -> list[Turn]:
    """All turns of a plan, the warm-up's rounds first.

    Experiments that share a lab stand together in a round, so that it is started once; the order
    of labs, and of experiments in each, is drawn anew for every round. The same seed draws the
    same, and more rounds leave the order of the earlier ones as it was.
    """
    lots = random.Random(seed)  # noqa: S311 (an order, not a secret)
    numbered = [(number, True) for number in range(1, warm_up + 1)]
    numbered += [(number, False) for number in range(1, rounds + 1)]
    return [
        Turn(identity, number, is_warm_up)
        for number, is_warm_up in numbered
        for identity in _shuffled(identities, lots)
    ]


def _shuffled(identities: Sequence[Identity], lots: random.Random) -> list[Identity]:
    by_site: dict[object, list[Identity]] = {}
    for identity in identities:
        by_site.setdefault(identity.experiment.site, []).append(identity)
    sites = lots.sample(list(by_site.values()), len(by_site))
    return [identity for site in sites for identity in lots.sample(site, len(site))]


def missing(turns: Iterable[Turn], done: Iterable[BenchRun]) -> list[Turn]:
    """The turns that no valid run was made in, in their order."""
    keys = {(r.configuration_hash, r.round, r.warm_up) for r in done if r.invalid is None}
    return [turn for turn in turns if turn.key not in keys]
