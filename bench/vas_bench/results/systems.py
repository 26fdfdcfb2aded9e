"""The systems that are compared, in the order reports show them."""

from __future__ import annotations

from typing import Literal

System = Literal["yarn-hdfs", "yarn-lustre", "yarn-lustre-hosts", "tez", "vas-locality", "vas"]

# Name -> what a reader of a report is told of it.
SYSTEMS: dict[System, str] = {
    "yarn-hdfs": "stock YARN on HDFS, a DataNode on every node",
    "yarn-lustre": "stock YARN on Lustre, which answers no hosts, as any shared file system",
    "yarn-lustre-hosts": "the same, and the file system answers each stripe's host",
    "tez": "the same jobs on Apache Tez",
    "vas-locality": "each stripe's host is answered, and VAS's placement waits for it",
    "vas": "the same, and map output is written once to Lustre and merged from there",
}
