"""Writes the static part of a placement as a tuned profile on top of virtual-host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.placement import CpuRole, HostPlacement
from vas_affinity.plan.emit.pages import pages_of


def tuned_profile(placement: HostPlacement, guests: Sequence[str]) -> str:
    """Returns the text of `tuned.conf`, with only those settings that the plan gives a reason."""
    host = " ".join(placement.host.split())
    parts = [
        f"# Static settings of {host}, made by `vas affinity emit --as tuned`. Install it as\n"
        "# /etc/tuned/vas-guests/tuned.conf (from tuned 2.23 on in /etc/tuned/profiles/).\n"
        "[main]\n"
        f"summary=Storage server {host} with guests on CPUs of their own\n"
        "include=virtual-host",
        *_numa(placement),
        *_pages(placement, guests),
        *_isolated(placement),
    ]
    return "\n\n".join(parts) + "\n"


def _numa(placement: HostPlacement) -> Iterator[str]:
    if all(memory.strict and memory.nodes for memory in placement.memory) and placement.memory:
        yield (
            "[sysctl]\n"
            "# vCPUs and their memory are bound to their nodes: moving pages could only cost.\n"
            "kernel.numa_balancing=0"
        )


def _pages(placement: HostPlacement, guests: Sequence[str]) -> Iterator[str]:
    lines = [
        f"# memory of {', '.join(pages.guests)}\n"
        f"/sys/devices/system/node/node{pages.node}/hugepages/"
        f"hugepages-{pages.page_bytes // 1024}kB/nr_hugepages={pages.count}"
        for pages in pages_of(placement, guests)
    ]
    if lines:
        yield "\n".join(["[sysfs]", *lines])


def _isolated(placement: HostPlacement) -> Iterator[str]:
    cpus = format_cpulist(cpu for cpu, role in placement.roles.items() if role is CpuRole.VCPU)
    if cpus:
        yield (
            "[bootloader]\n"
            "# Holds from the next boot. domain: the scheduler moves nothing to the vCPUs' CPUs,\n"
            "# of which each has its one thread. managed_irq: queues that the kernel places fire\n"
            "# elsewhere while another of their CPUs is online.\n"
            f"cmdline_vas=+isolcpus=domain,managed_irq,{cpus}"
        )
