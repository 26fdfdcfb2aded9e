"""Which stripes of a partial file are written, verified and durable: what a resumed put skips."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from vas_core.errors import VasError

_NO_LOCKS_HERE = (errno.ENOSYS, errno.EOPNOTSUPP)


@dataclass(frozen=True)
class Identity:
    """What a partial file is a part of. Any difference means to begin anew."""

    source: str
    size: int
    mtime_ns: int
    inode: int
    stripe_size: int
    stripe_count: int
    pool: str | None


class StripeJournal:
    """A file of JSON lines: the identity, then one line per finished stripe.

    The caller makes a stripe durable before `finished`. A line cut by a crash is ignored.
    """

    def __init__(self, path: Path) -> None:
        """Opens and locks the journal. Raises VasError while another process has it."""
        self._path = path
        self._lock = threading.Lock()
        self._stream: TextIO = os.fdopen(
            os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+", encoding="utf-8"
        )
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._stream.close()
            raise VasError("another put to the same name is running", where=str(path)) from None
        except OSError as error:
            # A mount with noflock: two puts at once are then the user's to avoid.
            if error.errno not in _NO_LOCKS_HERE:
                raise

    def resume(self, identity: Identity) -> dict[int, str] | None:
        """Checksums of the finished stripes by number; None if they are of something else."""
        self._stream.seek(0)
        lines = [_parsed(line) for line in self._stream]
        if not lines or lines[0] != {"identity": asdict(identity)}:
            return None
        return {line["stripe"]: line["sha256"] for line in lines[1:] if line and "sha256" in line}

    def begin(self, identity: Identity) -> None:
        """Forgets everything and begins with this identity."""
        self._stream.seek(0)
        self._stream.truncate()
        self._append({"identity": asdict(identity)})

    def finished(self, stripe: int, sha256: str) -> None:
        """Records a stripe that is durable. Safe to call from several threads."""
        with self._lock:
            self._append({"stripe": stripe, "sha256": sha256})

    def remove(self) -> None:
        """Deletes the journal: nothing is left to resume."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Gives the lock back."""
        self._stream.close()

    def _append(self, value: dict[str, Any]) -> None:
        self._stream.seek(0, os.SEEK_END)
        self._stream.write(json.dumps(value) + "\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
