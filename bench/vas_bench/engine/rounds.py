"""Rounds in which every subject runs once, in an order drawn by lot. Pure."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from vas_bench.results.record import BenchRun, Parameter, hash_of_configuration, make_run
from vas_bench.results.systems import ComparedSystem


class RoundSubject(Protocol):
    """The subject of a round: a workload on one of the systems that are compared."""

    @property
    def workload(self) -> str:
        """The workload, as a run's line names it."""

    @property
    def system(self) -> ComparedSystem:
        """The system, of `results.systems`."""

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Numbers and choices that all compared systems have in common."""

    @property
    def title(self) -> str:
        """The subject in words, as progress names it."""

    @property
    def site(self) -> object:
        """The site that the subject runs on, such as a lab with its properties; any hashable.

        Subjects with an equal site stand together in a round, so that it is made once.
        """


S = TypeVar("S", bound=RoundSubject)
A = TypeVar("A")


@dataclass(frozen=True, kw_only=True)
class ArmSubject(Generic[A]):
    """An arm of a benchmark as the subject of a round; `system` is its name in results."""

    arm: A
    system: ComparedSystem
    workload: str
    parameters: dict[str, Parameter]
    site: object = None

    @property
    def title(self) -> str:
        """The arm's name, as progress shows it."""
        return self.system


@dataclass(frozen=True)
class RunIdentity(Generic[S]):
    """A subject with all the settings that it runs with, and their hash."""

    experiment: S
    configuration: Mapping[str, Any]
    versions: Mapping[str, str]

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a run that its hash is computed from."""
        return {
            "workload": self.experiment.workload,
            "system": self.experiment.system,
            "parameters": self.experiment.parameters,
            "configuration": dict(self.configuration),
            "versions": dict(self.versions),
        }

    @property
    def hash(self) -> str:
        """The `configuration_hash` of its runs."""
        return hash_of_configuration(self.fields)

    def run(self, **others: Any) -> BenchRun:
        """Makes a run of this identity; `others` are further fields of it."""
        return make_run(**self.fields, **others)


@dataclass(frozen=True)
class Round(Generic[S]):
    """One run to be made. `number` is that of its round.

    It counts from 1, for the rounds of the warm-up and for those that are measured, each by itself.
    """

    identity: RunIdentity[S]
    number: int
    warm_up: bool

    @property
    def experiment(self) -> S:
        """The subject that runs."""
        return self.identity.experiment

    @property
    def key(self) -> RoundKey:
        """The key that no two valid runs have in common."""
        return self.identity.hash, self.number, self.warm_up

    @property
    def title(self) -> str:
        """The round and its subject in words."""
        kind = "warm-up" if self.warm_up else "round"
        return f"{kind} {self.number}: {self.experiment.title}"


RoundKey = tuple[str, int, bool]


def key_of(run: BenchRun) -> RoundKey:
    """Returns the key of the round that a run was made in."""
    return run.configuration_hash, run.round or 0, run.warm_up


def draw_rounds(
    identities: Sequence[RunIdentity[S]], *, rounds: int, warm_up: int = 0, seed: int
) -> list[Round[S]]:
    """Draws all rounds, the warm-up's first.

    Subjects that share a site stand together in a round; the order of sites, and of subjects in
    each, is drawn again for every round. The same seed draws the same, and more rounds leave the
    order of the earlier ones as it was.
    """
    lots = random.Random(seed)  # noqa: S311 (an order, not a secret)
    numbered = [(number, True) for number in range(1, warm_up + 1)]
    numbered += [(number, False) for number in range(1, rounds + 1)]
    return [
        Round(identity, number, is_warm_up)
        for number, is_warm_up in numbered
        for identity in _shuffled(identities, lots)
    ]


def _shuffled(identities: Sequence[RunIdentity[S]], lots: random.Random) -> list[RunIdentity[S]]:
    by_site: dict[object, list[RunIdentity[S]]] = {}
    for identity in identities:
        by_site.setdefault(identity.experiment.site, []).append(identity)
    sites = lots.sample(list(by_site.values()), len(by_site))
    return [identity for site in sites for identity in lots.sample(site, len(site))]


def missing(rounds: Iterable[Round[S]], done: Iterable[BenchRun]) -> list[Round[S]]:
    """Returns the rounds that no valid run was made in, in their order."""
    keys = {key_of(run) for run in done if run.invalid is None}
    return [each for each in rounds if each.key not in keys]


def runs_of(rounds: Iterable[Round[S]], runs: Iterable[BenchRun]) -> list[BenchRun]:
    """Returns the last run of each round, in the order of rounds; an INVALID one if none is valid.

    Rounds without a run are left out.
    """
    found: dict[RoundKey, BenchRun] = {}
    for run in runs:
        key = key_of(run)
        if key not in found or found[key].invalid is not None:
            found[key] = run
    return [found[each.key] for each in rounds if each.key in found]
