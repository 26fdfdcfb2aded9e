"""The one vocabulary of the systems that are compared, in the order reports show them."""

from __future__ import annotations

from typing import Literal

System = Literal["yarn-hdfs", "yarn-lustre", "yarn-lustre-hosts", "tez", "vas-locality", "vas"]
"""The systems that jobs run on, as a plan names them."""
Neighbour = Literal["alone", "host", "guest", "emulated"]
"""Who works next to a storage service: `vas bench interference`."""
Pinning = Literal["untuned, unpinned", "untuned, pinned", "tuned, unpinned", "tuned, pinned"]
"""Where threads run: `vas affinity experiment`."""
ComparedSystem = System | Neighbour | Pinning

# Name -> the text that a reader of a report gets.
SYSTEMS: dict[ComparedSystem, str] = {
    "yarn-hdfs": "stock YARN on HDFS, a DataNode on every node",
    "yarn-lustre": "stock YARN on Lustre, which answers no hosts, as any shared file system",
    "yarn-lustre-hosts": "the same, and the file system answers each stripe's host",
    "tez": "the same jobs on Apache Tez",
    "vas-locality": "each stripe's host is answered, and VAS's placement waits for it",
    "vas": "the same, and map output is written once to Lustre and merged from there",
    "alone": "a storage service's clients alone",
    "host": "TeraSort on the storage service's host, as any other process",
    "guest": "TeraSort in a cgroup as large as a guest, or in a site's guests",
    "emulated": "TeraSort in a QEMU guest",
    "untuned, unpinned": "threads where the kernel puts them, idle CPUs may sleep",
    "untuned, pinned": "each thread on its CPU, idle CPUs may sleep",
    "tuned, unpinned": "threads where the kernel puts them, idle CPUs poll",
    "tuned, pinned": "each thread on its CPU, idle CPUs poll",
}
