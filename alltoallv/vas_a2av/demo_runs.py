"""Runs the benchmark on the four nodes of `vas a2av demo`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_a2av.building import OPEN_MPI
from vas_a2av.demo_network import NODES, address, inside
from vas_a2av.real_cost import RealCost, costs_of
from vas_core.process import run

_TIMEOUT_SECONDS = 3600.0
_LEADERS = "1"  # of a node, in sloav2x
_SEED = "1"
_PARAMETERS = {
    "oob_tcp_if_include": "eth0",
    "btl_tcp_if_include": "eth0",
    "btl": "tcp,self,vader",
    "pml": "ob1",
    "mpi_yield_when_idle": "1",
    # The last words of ranks that end at once can reach mpiexec late: that is not an error.
    "orte_allowed_exit_without_sync": "1",
}


@dataclass(frozen=True)
class DemoCase:
    """A case of the demo: ranks on a node, bytes of a block, and calls in each of the rounds."""

    per_node: int
    size: int
    calls: int
    rounds: int

    @property
    def ranks(self) -> int:
        """The number of ranks on all nodes together."""
        return NODES * self.per_node


def run_demo(
    agent: Path, program: Path, case: DemoCase, algorithms: Sequence[str]
) -> list[RealCost]:
    """Runs the algorithms in turns, round by round, and returns the cost of a call of each.

    `agent` is the program that starts others on a node, `program` the benchmark. Raises
    CommandFailed when the run fails or takes more than an hour.
    """
    hosts = ",".join(f"{address(node)}:{case.per_node}" for node in range(1, NODES + 1))
    words = [*inside(1), OPEN_MPI.launcher, "--allow-run-as-root", "--oversubscribe"]
    for name, value in (_PARAMETERS | {"plm_rsh_agent": str(agent)}).items():
        words += ["--mca", name, value]
    words += ["--host", hosts, "-n", str(case.ranks), "--map-by", "slot", str(program)]
    words += [",".join(algorithms), "equal", str(case.size), str(case.calls), _SEED, _LEADERS]
    return costs_of(run([*words, str(case.rounds)], timeout_seconds=_TIMEOUT_SECONDS).stdout)
