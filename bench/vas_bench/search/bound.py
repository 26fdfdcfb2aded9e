"""A score that no placement can be below: by a linear program, or an integer one, of HiGHS.

The distances are bounded by levels: two CPUs that do not share a core, an L2, a last cache, a node
or a package are at least as far as the nearest two that do not. A pair then pays for the farthest
level, less what it saves on each level whose group it shares; a variable says how much of that a
group gives, and it is at most the share of either thread in that group. Equal cores are one column:
a mean over their exchanges is a solution too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from vas_affinity.machine.distance.matrix import Floats, Ints
from vas_affinity.search.score import PlacementProblem
from vas_bench.search.stdout import stdout_is_stderr

_TANGENTS = 24
_MOST_USE = 4.0  # of a CPU by several threads, up to which the square is bounded closely
_MOST_CLIQUES = 60
_MOST_TOGETHER = 40  # beyond, pairs are too many, and the square says nearly the same


@dataclass(frozen=True)
class LowerBound:
    """No placement's score is below `score`. `exact`: the solver ended by itself."""

    score: float
    exact: bool
    columns: int


@dataclass(frozen=True, eq=False)
class _Column:
    """Equal cores: how many, with how many CPUs each, and what each thread pays there at least."""

    cores: int
    cpus: int
    first: int
    alone: Floats
    members: tuple[int, ...] = ()
    """The CPUs of a single core, each of which has costs of its own."""


@dataclass(eq=False)
class _Program:
    """The linear program while it grows: costs and limits of variables, and rows of constraints."""

    costs: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    rows: list[tuple[list[int], list[float], float, float]] = field(default_factory=list)

    def variable(self, cost: float, upper: float, *, whole: bool = False) -> int:
        self.costs.append(cost)
        self.upper.append(upper)
        self.whole.append(int(whole))
        return len(self.costs) - 1

    def sum_of(self, variables: list[int], factors: list[float]) -> int:
        """Adds a variable that is a weighted sum of others."""
        total = self.variable(0.0, np.inf)
        self.row([total, *variables], [-1.0, *factors], 0.0, 0.0)
        return total

    def row(self, variables: list[int], factors: list[float], least: float, most: float) -> None:
        self.rows.append((variables, factors, least, most))

    def solve(self, seconds: float, gap: float) -> tuple[float, bool]:
        columns = [column for variables, *_ in self.rows for column in variables]
        factors = [factor for _, mine, *_ in self.rows for factor in mine]
        index = np.repeat(np.arange(len(self.rows)), [len(v) for v, *_ in self.rows])
        shape = (len(self.rows), len(self.costs))
        matrix = sparse.csr_matrix((factors, (index, columns)), shape=shape)
        least, most = (np.array([row[n] for row in self.rows]) for n in (2, 3))
        if not any(self.whole):
            return self._solve_parts(matrix, least, most)
        found = milp(
            np.array(self.costs),
            constraints=LinearConstraint(matrix, least, most),
            bounds=Bounds(np.zeros(len(self.upper)), np.array(self.upper)),
            integrality=np.array(self.whole),
            options={"mip_rel_gap": gap, "time_limit": seconds},
        )
        bound = found.mip_dual_bound
        return (-np.inf if bound is None else float(bound)), found.status == 0

    def _solve_parts(self, matrix: Any, least: Floats, most: Floats) -> tuple[float, bool]:
        equal = least == most
        up, down = ~equal & np.isfinite(most), ~equal & np.isfinite(least)
        found = linprog(
            np.array(self.costs),
            A_ub=sparse.vstack([matrix[up], -matrix[down]]),
            b_ub=np.concatenate([most[up], -least[down]]),
            A_eq=matrix[equal],
            b_eq=least[equal],
            bounds=[(0.0, upper) for upper in self.upper],
            method="highs-ipm",
        )
        lowest = found.fun if found.status == 0 else None
        return (-np.inf if lowest is None else float(lowest)), found.status == 0


def lower_bound(
    problem: PlacementProblem,
    *,
    whole: bool = True,
    seconds: float = 600.0,
    gap: float = 0.0,
    merge: bool = False,
    least_weight: float = 0.0,
) -> LowerBound:
    """Returns a score below which no placement of the problem is.

    `whole`: threads are placed as a whole, else in parts, which is quicker and lower. The solver
    ends after `seconds`, or within `gap` of its optimum. `merge`: equal cores are one column, which
    is quicker and lower too. A pair of less than `least_weight` pays as if its threads were next to
    each other.
    """
    levels = _levels(problem)
    columns = _columns(problem, levels, merge=merge)
    program = _Program()
    shares = _places(program, problem, columns, whole=whole)
    constant = _pairs(program, problem, columns, shares, levels, least_weight)
    taken = _limits(program, problem, columns, shares)
    _sharing(program, problem, columns, shares, taken)
    # As a variable that is 1, it counts in the gap at which the solver ends.
    program.row([program.variable(constant, 1.0)], [1.0], 1.0, 1.0)
    with stdout_is_stderr():
        score, exact = program.solve(seconds, gap)
    return LowerBound(score, exact, len(columns))


@dataclass(frozen=True, eq=False)
class _Level:
    """A partition of the CPUs, and the least distance of two that are not in one group."""

    group: Ints
    apart: float


def _levels(problem: PlacementProblem) -> list[_Level]:
    """Returns the partitions by distance, finest first: CPUs nearer than each threshold."""
    between = problem.distance
    found = [_Level(np.asarray(problem.core), 0.0)]
    for limit in sorted(set(between.ravel().tolist())):
        group = _components(between <= limit)
        if len(set(group.tolist())) < len(set(found[-1].group.tolist())):
            found.append(_Level(group, 0.0))
    return [_Level(level.group, _least_apart(between, level.group)) for level in found]


def _components(near: np.ndarray) -> Ints:
    _, label = sparse.csgraph.connected_components(sparse.csr_matrix(near), directed=False)
    return np.asarray(label, dtype=np.intp)


def _least_apart(between: Floats, group: Ints) -> float:
    other = group[:, None] != group[None, :]
    return float(between[other].min()) if other.any() else float("inf")


def _columns(problem: PlacementProblem, levels: list[_Level], *, merge: bool) -> list[_Column]:
    """Returns the cores; if `merge`, equal ones as one: in one group on every level, same costs."""
    merged: dict[tuple[object, ...], list[Ints]] = {}
    for number in dict.fromkeys(problem.core.tolist()):
        cpus = np.flatnonzero(problem.core == number)
        alone = problem.alone[:, cpus].min(axis=1)
        places = tuple(int(level.group[cpus[0]]) for level in levels[1:])
        same = alone.tobytes() if merge else int(number)
        merged.setdefault((places, len(cpus), same), []).append(cpus)
    return [
        _Column(
            cores=len(cores),
            cpus=max(map(len, cores)),
            first=int(cores[0][0]),
            alone=problem.alone[:, np.concatenate(cores)].min(axis=1),
            members=() if merge else tuple(cores[0].tolist()),
        )
        for cores in merged.values()
    ]


@dataclass(eq=False)
class _Shares:
    """The variables of one thread: its share in each column, and on each CPU of a single core."""

    columns: dict[int, int] = field(default_factory=dict)
    cpus: dict[int, int] = field(default_factory=dict)


def _places(
    program: _Program, problem: PlacementProblem, columns: list[_Column], *, whole: bool
) -> list[_Shares]:
    """Adds a variable for each thread and column, and each CPU, where it may be."""
    shares = []
    for thread in range(len(problem.threads)):
        mine = _Shares()
        for place, column in enumerate(columns):
            free = [cpu for cpu in column.members if np.isfinite(problem.alone[thread, cpu])]
            for cpu in free:
                cost = float(problem.alone[thread, cpu])
                mine.cpus[cpu] = program.variable(cost, 1.0, whole=whole)
            if free:
                variables = [mine.cpus[cpu] for cpu in free]
                mine.columns[place] = program.sum_of(variables, [1.0] * len(free))
            elif not column.members and np.isfinite(column.alone[thread]):
                cost = float(column.alone[thread])
                mine.columns[place] = program.variable(cost, 1.0, whole=whole)
        every = list(mine.columns.values())
        program.row(every, [1.0] * len(every), 1.0, 1.0)
        shares.append(mine)
    return shares


def _pairs(
    program: _Program,
    problem: PlacementProblem,
    columns: list[_Column],
    shares: list[_Shares],
    levels: list[_Level],
    least_weight: float,
) -> float:
    """Adds what pairs save by sharing groups; returns what they pay if they share none."""
    constant = 0.0
    ways = [level.apart for level in levels if np.isfinite(level.apart)]
    nearest = float(problem.distance.min())
    for one, other in zip(*np.nonzero(np.triu(problem.weighted, 1)), strict=True):
        weight = float(problem.weighted[one, other])
        if weight < least_weight:
            constant += weight * nearest
            continue
        constant += weight * max(ways, default=nearest)
        for place, level in enumerate(levels):
            if not np.isfinite(level.apart):
                continue
            inside = levels[place - 1].apart if place else nearest
            gain = weight * (level.apart - inside)
            apart = problem.apart is not None and bool(problem.apart[one, other])
            if gain > 0 and not (place == 0 and apart):
                pair = (shares[int(one)].columns, shares[int(other)].columns)
                _group_savings(program, columns, pair, level, gain, by_core=place == 0)
    return constant


def _group_savings(
    program: _Program,
    columns: list[_Column],
    pair: tuple[dict[int, int], dict[int, int]],
    level: _Level,
    gain: float,
    *,
    by_core: bool,
) -> None:
    groups: dict[int, list[int]] = {}
    for place, column in enumerate(columns):
        key = place if by_core else int(level.group[column.first])
        groups.setdefault(key, []).append(place)
    for places in groups.values():
        mine = [[share[place] for place in places if place in share] for share in pair]
        if all(mine):
            saved = program.variable(-gain, 1.0)
            for variables in mine:
                factors = [1.0, *(-1.0 for _ in variables)]
                program.row([saved, *variables], factors, -np.inf, 0.0)


def _limits(
    program: _Program,
    problem: PlacementProblem,
    columns: list[_Column],
    shares: list[_Shares],
) -> dict[tuple[int, int], int]:
    """Adds how many cores each team takes in a column: all teams together no more than there are.

    A team is what may be on one core, by any chain of pairs. Returns (team, column) -> variable.
    """
    team = _teams(problem)
    cliques = list(itertools.islice(_cliques(problem), _MOST_CLIQUES))
    taken: dict[tuple[int, int], int] = {}
    for place, column in enumerate(columns):
        mine: dict[int, list[int]] = {}
        for thread, share in enumerate(shares):
            if place in share.columns:
                mine.setdefault(int(team[thread]), []).append(thread)
        for number, threads in mine.items():
            taken[number, place] = program.variable(0.0, float(column.cores))
            for thread in threads:
                both = [taken[number, place], shares[thread].columns[place]]
                program.row(both, [1.0, -1.0], 0.0, np.inf)
        for clique in cliques:
            inside = [thread for thread in clique if place in shares[thread].columns]
            whose = {int(team[thread]) for thread in inside}
            at = [shares[thread].columns[place] for thread in inside]
            if len(whose) == 1 and len(inside) > 1:
                cores = taken[whose.pop(), place]
                program.row([cores, *at], [1.0, *(-1.0 for _ in at)], 0.0, np.inf)
            elif len(inside) > column.cores:
                program.row(at, [1.0] * len(at), 0.0, float(column.cores))
        every = [taken[number, place] for number in mine]
        program.row(every, [1.0] * len(every), 0.0, float(column.cores))
    return taken


def _teams(problem: PlacementProblem) -> Ints:
    if problem.apart is None:
        return np.zeros(len(problem.threads), dtype=np.intp)
    return _components(~problem.apart)


def _cliques(problem: PlacementProblem) -> Iterator[list[int]]:
    """Yields sets of threads that are all apart, which together have every such pair."""
    if problem.apart is None:
        return
    left = np.triu(problem.apart)
    order = np.argsort(-problem.apart.sum(axis=1), kind="stable").tolist()
    while left.any():
        one, other = (int(where[0]) for where in np.nonzero(left))
        clique = [one, other]
        for thread in order:
            if thread not in clique and problem.apart[thread, clique].all():
                clique.append(thread)
        left[np.ix_(clique, clique)] = False
        yield clique


def _sharing(
    program: _Program,
    problem: PlacementProblem,
    columns: list[_Column],
    shares: list[_Shares],
    taken: dict[tuple[int, int], int],
) -> None:
    """Adds what use of one CPU or core by several costs at least.

    The sum over pairs is the square of a CPU's use, less the squares of each thread's. A team's
    cores share its use at best evenly; tangents bound the square from below. In a column of one
    core each pair pays at least for siblings.
    """
    use, weights, team = problem.activity, problem.weights, _teams(problem)
    for (number, place), cores in taken.items():
        column = columns[place]
        team_mates = np.flatnonzero((team == number) & (use > 0)).tolist()
        mine = [thread for thread in team_mates if place in shares[thread].columns]
        if len(mine) < 2:
            continue
        steep = (weights.same_cpu - weights.siblings) / column.cpus + weights.siblings
        cost = program.variable(1.0, np.inf)
        at = [shares[thread].columns[place] for thread in mine]
        used = program.sum_of(at, use[mine].tolist())
        squares = program.sum_of(at, (use[mine] ** 2).tolist())
        most = min(float(use[mine].sum()), _MOST_USE * column.cpus)
        for point in np.linspace(0, most, _TANGENTS)[1:]:
            factors = [1.0, -steep * point, steep * point**2 / 2, weights.same_cpu / 2]
            program.row([cost, used, cores, squares], list(map(float, factors)), 0.0, np.inf)
        if column.members and len(mine) <= _MOST_TOGETHER:
            _together(
                program, problem, {each: shares[each] for each in mine}, cost, (place, column)
            )


def _together(
    program: _Program,
    problem: PlacementProblem,
    mine: dict[int, _Shares],
    cost: int,
    where: tuple[int, _Column],
) -> None:
    """Adds what each pair pays on one core, and more of it on one CPU."""
    weights, (place, column) = problem.weights, where
    variables, factors = [cost], [1.0]

    def both(one: int, other: int, price: float) -> None:
        pair = program.variable(0.0, 1.0)
        program.row([pair, one, other], [1.0, -1.0, -1.0], -1.0, np.inf)
        variables.append(pair)
        factors.append(-price)

    for one, other in itertools.combinations(mine, 2):
        if problem.apart is not None and problem.apart[one, other]:
            continue
        used = float(problem.activity[one] * problem.activity[other])
        on, of = mine[one], mine[other]
        both(on.columns[place], of.columns[place], weights.siblings * used)
        for cpu in set(column.members) & on.cpus.keys() & of.cpus.keys():
            both(on.cpus[cpu], of.cpus[cpu], (weights.same_cpu - weights.siblings) * used)
    program.row(variables, factors, 0.0, np.inf)
