"""Every weight of the score, in one place; docs/affinity-score.md has the reasons."""

from __future__ import annotations

from vas_affinity.topology import Frozen


class Weights(Frozen):
    """What each term counts, in units of the distance table (1 is the L1 cache, 113 the farthest).

    The busiest communicator's weights add up to `communication`; two threads that are always
    active pay `same_cpu` for one CPU and `siblings` for one core.
    """

    communication: float = 1.0
    same_cpu: float = 200.0
    """Above the table's widest range (113 - 1): no nearness is worth a CPU shared by two threads
    that are always active. In the slides [DS,DC] is 1.433 times [DS,DS], [DS,DN] 1.369."""
    siblings: float = 44.0
    """200 x 9.48 % / 43.3 %: what soft-disabling siblings gave (thread manager, T-001 to T-002; p =
    0.16 over its 5 runs) over what a core of one's own gave (slides, [DS,DS] to [DS,DC])."""
    interrupt: float = 0.28
    """200 x 4.69 % / 43.3 % / (83 - 6): what [DS,DC] gave over [DS,DN] beside what it gave over
    [DS,DS], from one end of the table's range between the two to the other."""
    network: float = 1 / 128
    """Of an I/O thread's distance from network interrupts, beside 1 from storage interrupts: below
    one step over the table's range, so that D decides before N, as in the slides' order."""
    memory: float = 0.5
    """Each access beside a message's two ends."""
    least_io: float = 0.1
    """The activity that an idle I/O thread's distance from its interrupts still counts with."""
    busiest_io: float = 2.0
    """Times the communication of the busiest I/O threads: version 24 of the thread manager raised
    it by an amount that its paper does not say."""


WEIGHTS = Weights()
