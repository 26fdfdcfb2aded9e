"""Copies stripes in parallel, each written, made durable and read back."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass

from vas_core.errors import VasError

_CHUNK_BYTES = 4 << 20


class _StoppedError(VasError):
    """Another stripe failed first."""


@dataclass(frozen=True)
class Stripe:
    """One stripe of a file: number, offset and length in bytes."""

    number: int
    offset: int
    length: int


def stripes_of(file_size: int, stripe_size: int) -> list[Stripe]:
    """Returns all stripes of a file in order; the last may be shorter. Sizes in bytes."""
    return [
        Stripe(number, offset, min(stripe_size, file_size - offset))
        for number, offset in enumerate(range(0, file_size, stripe_size))
    ]


class Transfer:
    """Copies stripes from one open file to another, by file descriptors.

    `finished(stripe, sha256)` is called after a stripe is durable and verified, `progress` with
    each number of bytes written; both from several threads.
    """

    def __init__(
        self,
        source: int,
        target: int,
        *,
        finished: Callable[[Stripe, str], None],
        progress: Callable[[int], None],
    ) -> None:
        self._source = source
        self._target = target
        self._finished = finished
        self._progress = progress
        self._stop = threading.Event()

    def run(self, stripes: Iterable[Stripe], *, threads: int) -> None:
        """Copies all stripes; the first error, or an interrupt, stops the others soon.

        Raises the first error: VasError if a stripe reads back differently, or OSError.
        """
        with ThreadPoolExecutor(threads, thread_name_prefix="put") as pool:
            futures = [pool.submit(self._copy_or_stop, stripe) for stripe in stripes]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
        failed = (future.exception() for future in futures if not future.cancelled())
        cause = next((e for e in failed if e and not isinstance(e, _StoppedError)), None)
        if cause:
            raise cause

    def _copy_or_stop(self, stripe: Stripe) -> None:
        try:
            self._copy(stripe)
        except BaseException:
            # Set at once: the waiting thread may notice the error only after the next stripe.
            self._stop.set()
            raise

    def _copy(self, stripe: Stripe) -> None:
        digest = hashlib.sha256()
        for offset, chunk in self._chunks(self._source, stripe):
            digest.update(chunk)
            _write_all(self._target, chunk, offset)
            self._progress(len(chunk))
        os.fdatasync(self._target)
        # Read back from the servers, not from this client's page cache.
        os.posix_fadvise(self._target, stripe.offset, stripe.length, os.POSIX_FADV_DONTNEED)
        if self.checksum(stripe) != digest.hexdigest():
            raise VasError(
                f"bytes {stripe.offset} to {stripe.offset + stripe.length} read back differently",
                hint="run the same command again; if it persists, suspect the memory or an OST",
            )
        self._finished(stripe, digest.hexdigest())

    def checksum(self, stripe: Stripe) -> str:
        """Returns the SHA-256, in hexadecimal, of a stripe of the target file as it is now.

        Raises VasError if the file is shorter, or another stripe failed.
        """
        digest = hashlib.sha256()
        for _, chunk in self._chunks(self._target, stripe):
            digest.update(chunk)
        return digest.hexdigest()

    def _chunks(self, descriptor: int, stripe: Stripe) -> Iterable[tuple[int, bytes]]:
        offset, end = stripe.offset, stripe.offset + stripe.length
        while offset < end:
            if self._stop.is_set():
                raise _StoppedError("stopped")
            chunk = os.pread(descriptor, min(_CHUNK_BYTES, end - offset), offset)
            if not chunk:
                raise VasError(f"the file ends at {offset}, before {end}")
            yield offset, chunk
            offset += len(chunk)


def _write_all(descriptor: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
