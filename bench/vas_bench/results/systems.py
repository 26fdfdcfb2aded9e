"""The names of what is compared: systems that jobs run on with their arms, neighbours, pinnings."""

from __future__ import annotations

from typing import Literal

from vas_yarn.jobs.systems import ARMS, COMPUTE, INTERMEDIATE, NODE_ARMS, Arm, System
from vas_yarn.jobs.systems import SYSTEMS as JOB_SYSTEMS

Neighbour = Literal["alone", "host", "guest", "emulated"]
"""Who works next to a storage service: `vas bench interference`."""
Pinning = Literal["untuned, unpinned", "untuned, pinned", "tuned, unpinned", "tuned, pinned"]
"""Where threads run: `vas affinity experiment`."""
DiskPair = Literal["unpinned", "[DS,DS]", "[DS,DC]", "[DS,DM]", "[DS,DN]"]
"""Where two service threads run, by the CPU of a disk's interrupts: `vas affinity pairs`."""
Fetching = Literal[
    "stock fetch",
    "stock fetch, TLS",
    "vas-shuffled",
    "vas-shuffled, TLS",
    "vas-shuffled, merged",
]
"""Who serves and fetches map output: `vas bench fetch`."""
SparkShuffle = Literal["spark", "spark-service", "spark-vas"]
"""Who keeps Spark's map output: `vas bench spark`."""
ComparedSystem = System | Neighbour | Pinning | DiskPair | Fetching | SparkShuffle

# Name -> the text that a reader of a report gets.
_OTHERS: dict[Neighbour | Pinning | DiskPair | Fetching | SparkShuffle, str] = {
    "alone": "a storage service's clients alone",
    "host": "TeraSort on the storage service's host, as any other process",
    "guest": "TeraSort in a cgroup as large as a guest, or in a site's guests",
    "emulated": "TeraSort in a QEMU guest",
    "untuned, unpinned": "threads where the kernel puts them, idle CPUs may sleep",
    "untuned, pinned": "each thread on its CPU, idle CPUs may sleep",
    "tuned, unpinned": "threads where the kernel puts them, idle CPUs poll",
    "tuned, pinned": "each thread on its CPU, idle CPUs poll",
    "unpinned": "two service threads where the kernel puts them",
    "[DS,DS]": "both on the CPU of the disk's interrupts",
    "[DS,DC]": "one there, one on a CPU that shares its cache",
    "[DS,DM]": "one there, one on a CPU that shares its memory alone",
    "[DS,DN]": "one there, one on a CPU that shares neither",
    "stock fetch": "Hadoop's ShuffleHandler, and its Fetcher and MergeManager in a reducer's JVM",
    "stock fetch, TLS": "the same over HTTPS",
    "vas-shuffled": "a daemon on the server's and on each client's node, NodeMerge in the JVM",
    "vas-shuffled, TLS": "the same, and the daemons talk by TLS 1.3",
    "vas-shuffled, merged": "the same without TLS, and the daemon on the client's node merges",
    "spark": "Spark's own shuffle: executors serve what they wrote",
    "spark-service": "Spark's own shuffle, and its external shuffle service on each node",
    "spark-vas": "Spark with map output on Lustre, which any executor reads in place",
}
SYSTEMS = dict[ComparedSystem, str]([*JOB_SYSTEMS.items(), *_OTHERS.items()])
"""The texts of all systems, in the order in which reports show them."""


SYSTEM_OF: dict[str, System] = {arm.name: arm.system for arm in ARMS}
"""An arm's name -> its system, of those that run on any node."""

ARM_OF: dict[System, Arm] = {arm.system: arm for arm in (*ARMS, INTERMEDIATE, COMPUTE, *NODE_ARMS)}

NODE_SYSTEMS: frozenset[System] = frozenset(arm.system for arm in NODE_ARMS)
"""The systems whose nodes run vas-shuffled."""

NAME_OF: dict[ComparedSystem, str] = {arm.system: arm.name for arm in ARM_OF.values()}
"""A system -> the name of its arm."""
