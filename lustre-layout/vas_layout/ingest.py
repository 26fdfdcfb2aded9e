"""Copies a file into Lustre with one stripe per split: first layout, then bytes, then name.

The bytes go into a hidden file next to the destination, with a journal of the finished stripes.
The final name appears by one rename after everything is verified and durable. An interruption
leaves only the hidden file and its journal, and the same command resumes from there.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from vas_core.errors import BadInput, VasError
from vas_core.files import fsync_directory
from vas_core.predictable_names import PUT_DATA, PUT_JOURNAL
from vas_core.safe_open import open_own, unlink_file
from vas_layout.errors import LayoutUnavailableError
from vas_layout.model import Layout
from vas_layout.paths import is_directory
from vas_layout.planning import StripePlan
from vas_layout.publish import publish
from vas_layout.reasons import refusal, unavailable
from vas_layout.requests import stripes
from vas_layout.store import LayoutReader, XattrStore, create_with_layout
from vas_layout.stripe_journal import SourceIdentity, StripeJournal
from vas_layout.transfer import Stripe, Transfer, stripes_of


@dataclass(frozen=True)
class Ingested:
    """A file that was copied into Lustre.

    `sha256`: SHA-256 of the stripes' SHA-256 digests in order; `resumed_stripes`: number of stripes
    that an earlier run copied; `adjusted`: differences of the layout from the request.
    """

    destination: Path
    layout: Layout
    resumed_stripes: int
    sha256: str
    adjusted: tuple[str, ...]


def destination_of(source: Path, destination: str) -> Path:
    """Returns the final path; a directory, or a name that ends in `/`, gets the source's name.

    Raises BadInput if the path exists or its directory does not.
    """
    named = Path(destination)
    final = named / source.name if destination.endswith("/") or is_directory(named) else named
    if os.path.lexists(final):
        raise BadInput("exists already", where=str(final), hint="choose another name")
    if not is_directory(final.parent):
        raise BadInput("no such directory", where=str(final.parent))
    return final


def put(
    source: Path,
    final: Path,
    plan: StripePlan,
    *,
    threads: int = 4,
    store: XattrStore | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Ingested:
    """Copies `source` to `final`, which must not exist. `progress` gets numbers of copied bytes.

    Raises VasError if the copy fails; the hidden file and its journal stay for the next run with
    the same source and plan, unless the source changed meanwhile. Raises BadInput if the source
    is not a readable regular file.
    """
    with _opened(source) as (descriptor, before):
        identity = SourceIdentity(
            source=os.fsencode(source.resolve()).hex(),
            size=before.st_size,
            mtime_ns=before.st_mtime_ns,
            inode=before.st_ino,
            stripe_size=plan.stripe_size,
            stripe_count=plan.stripe_count,
            pool=plan.pool,
        )
        partial = _Partial(final, store or XattrStore())
        try:
            return partial.fill(descriptor, identity, threads, progress)
        except VasError as error:
            error.where = error.where or str(final)
            raise
        except OSError as error:
            what, fix = refusal(error.errno or 0)
            again = "run the same command again to resume"
            hint = f"{fix}; then {again}" if fix else again
            raise VasError(what, where=str(final), hint=hint) from error
        finally:
            partial.close()


class _Partial:
    """The hidden file and its journal."""

    def __init__(self, final: Path, store: XattrStore) -> None:
        self._final = final
        self._store = store
        # A digest: the final name may already have the 255 bytes that a name can have.
        self._key = hashlib.sha256(os.fsencode(final.name)).hexdigest()[:16]
        self._hidden = final
        journal = final.with_name(PUT_JOURNAL.of(key=self._key))
        try:
            self._journal = StripeJournal(journal)
        except OSError as error:
            planted = os.path.lexists(journal)
            raise unavailable(error, str(journal if planted else final)) from error

    def close(self) -> None:
        self._journal.close()

    def fill(
        self, source: int, identity: SourceIdentity, threads: int, progress: Callable[[int], None]
    ) -> Ingested:
        adjusted = self._resume_or_begin(identity)
        target = open_own(self._hidden, os.O_RDWR)
        try:
            inode = os.fstat(target).st_ino
            known = self._journal.stripes(inode)
            resumed = len(known)
            wanted = stripes_of(identity.size, identity.stripe_size)
            for stripe in wanted:
                if stripe.number in known:
                    progress(stripe.length)

            def finished(stripe: Stripe, sha256: str) -> None:
                self._journal.finished(stripe.number, sha256, inode)
                known[stripe.number] = sha256

            transfer = Transfer(source, target, finished=finished, progress=progress)
            transfer.run([s for s in wanted if s.number not in known], threads=threads)
            self._refuse_changed(source, identity)
            # No setuid: the owner is now whoever runs this.
            os.fchmod(target, os.fstat(source).st_mode & 0o777 & ~_umask())
            os.fsync(target)
            self._refuse_replaced(target)
        finally:
            os.close(target)
        layout = self._publish()
        total = hashlib.sha256(b"".join(bytes.fromhex(known[s.number]) for s in wanted))
        return Ingested(self._final, layout, resumed, total.hexdigest(), adjusted)

    def _named(self, token: str) -> Path:
        return self._final.with_name(PUT_DATA.of(key=self._key, token=token))

    def _resume_or_begin(self, identity: SourceIdentity) -> tuple[str, ...]:
        partial = self._journal.partial()
        if partial:
            self._hidden = self._named(partial[1])
            is_there = os.path.lexists(self._hidden) and not _was_published(self._hidden)
            if partial[0] == asdict(identity) and is_there:
                return ()
            unlink_file(self._hidden)
        # The journal is cleared before the new file exists, and no file reuses an earlier name.
        token = secrets.token_hex(8)
        self._hidden = self._named(token)
        self._journal.begin(identity, token)
        request = stripes(identity.stripe_size, identity.stripe_count, pool=identity.pool)
        try:
            created = create_with_layout(self._hidden, request, mode=0o600, store=self._store)
        except LayoutUnavailableError as refused:
            self._journal.remove()
            refused.where = str(self._final)
            raise
        fsync_directory(self._final.parent)
        return created.adjusted

    def _refuse_replaced(self, target: int) -> None:
        """Without working locks a second put may have removed our hidden file."""
        try:
            ours = os.path.samestat(os.fstat(target), self._hidden.lstat())
        except FileNotFoundError:
            ours = False
        if not ours:
            raise VasError(
                "another put to the same name took over",
                where=str(self._final),
                hint="run one at a time: locks do not hold on this mount",
            )

    def _refuse_changed(self, source: int, identity: SourceIdentity) -> None:
        now = os.fstat(source)
        if (now.st_size, now.st_mtime_ns) != (identity.size, identity.mtime_ns):
            unlink_file(self._hidden)
            self._journal.remove()
            raise VasError("the source changed while it was copied", where=str(self._final))

    def _publish(self) -> Layout:
        layout = LayoutReader(self._store).read(self._hidden)
        try:
            publish(self._hidden, self._final)
        except LayoutUnavailableError as refused:
            refused.hint = f"the finished copy is {self._hidden}: rename it yourself"
            raise
        self._journal.remove()
        return layout


def _was_published(hidden: Path) -> bool:
    """Whether a `put` died after it had linked its file to the final name.

    The final name may have been renamed since: a second name for the same bytes would share them.
    """
    found = hidden.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_nlink > 1 and found.st_uid == os.geteuid()


def _umask() -> int:
    # No call only reads the umask. No thread of ours creates a file here.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextmanager
def _opened(source: Path) -> Iterator[tuple[int, os.stat_result]]:
    try:
        # A FIFO must not wait for a writer before it is refused.
        descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise unavailable(error, str(source)) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise BadInput("is not a regular file", where=str(source))
        yield descriptor, status
    finally:
        os.close(descriptor)
