"""Computes how much memory of its storage server a guest may use at most. Pure."""

from __future__ import annotations

from vas_cluster import Guest
from vas_guest.settings import Accelerator, GuestSettings

_MIB = 1 << 20
# Eight bytes for each page of 4 KiB, in QEMU's own table and in the processor's for the guest.
_TABLES = 256
# The stack of a thread: glibc's default.
_THREAD_BYTES = 8 * _MIB
# QEMU's translated code, accel/tcg/region.c: DEFAULT_CODE_GEN_BUFFER_SIZE of a 64-bit host.
_TRANSLATED_BYTES = 1024 * _MIB


def limit_bytes(guest: Guest, settings: GuestSettings) -> int:
    """Returns libvirt's `memtune/hard_limit` in bytes.

    memory + memory/256 + 8 MiB per thread + the overhead. A guest that needs more is killed itself,
    not its neighbour: the limit must be above any normal use, and low enough for the storage
    server's page cache. The overhead, at least 1 GiB, is for QEMU. With a virtual function all of
    the guest's memory is locked, and this limit also replaces libvirt's own limit of locked memory,
    guest memory + 1 GiB (src/qemu/qemu_domain.c, qemuDomainGetMemLockLimitBytes).
    """
    threads = (guest.vcpus + guest.iothreads) * _THREAD_BYTES
    emulation = _TRANSLATED_BYTES if settings.accelerator is Accelerator.TCG else 0
    tables = guest.memory_bytes // _TABLES
    return guest.memory_bytes + tables + threads + settings.overhead_mib * _MIB + emulation
