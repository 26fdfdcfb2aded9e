"""Records which stripes of a partial file are durable and verified, for a resumed put to skip."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from vas_core.errors import VasError
from vas_core.safe_open import open_own

_NO_LOCKS_HERE = (errno.ENOSYS, errno.EOPNOTSUPP)
_TOKEN = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class SourceIdentity:
    """The source and plan of a partial file; if anything in it differs, `put` begins again.

    `source`: absolute path as hexadecimal bytes; sizes in bytes.
    """

    source: str
    size: int
    mtime_ns: int
    inode: int
    stripe_size: int
    stripe_count: int
    pool: str | None


class StripeJournal:
    """A file of JSON lines: the source's identity, then one line per finished stripe.

    The caller makes a stripe durable before `finished`. A line cut by a crash is ignored. The
    first line also holds the token in the partial file's name, and each stripe's line the file's
    inode: stripes of another file do not count as finished.
    """

    def __init__(self, path: Path) -> None:
        """Opens and locks the journal.

        Raises VasError while another process holds the lock, Planted if the file belongs to
        somebody else.
        """
        self._path = path
        self._lock = threading.Lock()
        self._stream = _locked(path)

    def partial(self) -> tuple[dict[str, Any], str] | None:
        """Returns the identity of the partial file and the token in its name; None without one."""
        first = next(iter(self._lines()), None) or {}
        identity, token = first.get("identity"), first.get("token")
        # The token becomes part of a file name, so it must have the form that `begin` writes.
        if not isinstance(identity, dict) or not _TOKEN.fullmatch(str(token)):
            return None
        return identity, str(token)

    def stripes(self, inode: int) -> dict[int, str]:
        """Returns number -> SHA-256 of the stripes finished in the file with this inode."""
        lines = (line for line in self._lines() if line and line.get("inode") == inode)
        return {line["stripe"]: line["sha256"] for line in lines}

    def begin(self, identity: SourceIdentity, token: str) -> None:
        """Clears the journal and writes a new identity, before the partial file is created.

        Raises OSError.
        """
        self._stream.seek(0)
        self._stream.truncate()
        self._append({"identity": asdict(identity), "token": token})

    def finished(self, stripe: int, sha256: str, inode: int) -> None:
        """Records a stripe that is durable. Safe to call from several threads. Raises OSError."""
        with self._lock:
            self._append({"stripe": stripe, "sha256": sha256, "inode": inode})

    def remove(self) -> None:
        """Deletes the journal: nothing is left to resume."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Closes the journal, which releases its lock."""
        self._stream.close()

    def _lines(self) -> list[dict[str, Any] | None]:
        self._stream.seek(0)
        return [_parsed(line) for line in self._stream]

    def _append(self, value: dict[str, Any]) -> None:
        self._stream.seek(0, os.SEEK_END)
        self._stream.write(json.dumps(value) + "\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())


def _locked(path: Path) -> TextIO:
    while True:
        stream = os.fdopen(open_own(path, os.O_RDWR | os.O_CREAT), "r+", encoding="utf-8")
        try:
            _lock(stream, path)
            if _is_still(stream, path):
                return stream
        except BaseException:
            stream.close()
            raise
        # Another put finished and removed the journal between our open and our lock.
        stream.close()


def _lock(stream: TextIO, path: Path) -> None:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise VasError("another put to the same name is running", where=str(path)) from None
    except OSError as error:
        # A mount with noflock: the user must avoid two puts at once.
        if error.errno not in _NO_LOCKS_HERE:
            raise


def _is_still(stream: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.lstat())
    except FileNotFoundError:
        return False


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
