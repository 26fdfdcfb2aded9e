"""The weights of the score; docs/affinity-score.md has the reasons."""

from __future__ import annotations

from vas_affinity.machine.topology import Frozen


class Weights(Frozen):
    """The weight of each term, in units of the distance table (1: L1 cache, 113: the farthest).

    The busiest communicator's weights add up to `communication`. Two threads that are always
    active pay `same_cpu` for sharing a CPU and `siblings` for sharing a core.
    """

    communication: float = 1.0
    same_cpu: float = 200.0
    """Above the table's widest range (113 - 1): no nearness is worth a CPU shared by two threads
    that are always active. In the slides [DS,DC] is 1.433 times [DS,DS], [DS,DN] 1.369."""
    siblings: float = 44.0
    """200 x 9.48 % / 43.3 %: what soft-disabling siblings gave (thread manager, T-001 to T-002; p =
    0.16 over its 5 runs) over what a core of one's own gave (slides, [DS,DS] to [DS,DC])."""
    interrupt: float = 0.28
    """200 x 4.69 % / 43.3 % / (83 - 6): what [DS,DC] gave over [DS,DN] against what it gave over
    [DS,DS], from one end of the table's range between the two to the other."""
    network: float = 1 / 128
    """The weight of an I/O thread's distance from network interrupts, against 1 for storage
    interrupts: below one step over the table's range, so that D decides before N, as in the slides'
    order."""
    memory: float = 0.5
    """A message has two ends, an access to memory one."""
    least_io: float = 0.1
    """The activity with which an idle I/O thread's distance from its interrupts still counts."""
    busiest_io: float = 2.0
    """The factor of the busiest I/O threads' communication: version 24 of the thread manager raised
    it by an amount that its paper does not state."""


WEIGHTS = Weights()


class Assumed(Frozen):
    """The assumed work of a guest that does not run yet, or that was idle when it was measured.

    A use is of CPUs (1.0 for a whole one) and holds unless more was measured. `by_*` are weights of
    communication, for each vCPU, in units of what a vCPU says to its guest's iothreads.
    """

    vcpu: float = 1.0
    """A guest's containers use every vCPU that they get."""
    storage: float = 0.5
    """The I/O of a core that is kept for the storage server, whose threads may be idle today."""
    iothread: float = 0.5
    vhost: float = 0.5
    emulator: float = 0.1
    kernel: float = 0.1
    """The use of CPU 0 by the kernel's own work: timers, RCU, workqueues."""
    interrupt_seconds: float = 10e-6
    """What an interrupt and its softirq take of a CPU."""
    by_io: float = 1.0
    by_network: float = 1.0
    by_memory: float = 0.25
    """A vCPU's words with the other vCPUs of its guest, whose memory it shares."""
    by_control: float = 0.05
    """A vCPU's words with its emulator, which only its devices' settings need."""


ASSUMED = Assumed()
