"""Reads and uses the site's keys, by which probes prove who sent them.

The file has one key per line, 64 hexadecimal digits (256 bits) each, and only root may read it. The
first key signs; all are accepted, so that a new key can be brought to every node before it is used.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from vas_core.errors import BadInput

DEFAULT_KEY = Path("/etc/vas/route.key")
MAC_BYTES = 16
"""The length of a probe's HMAC-SHA-256, cut as RFC 2104 section 5 allows."""
_KEY_BYTES = 32
_MOST_BYTES = 4096
_FINGERPRINT = b"vas-routed: which key is this"


@dataclass(frozen=True)
class Keys:
    """The keys of a site; the first one signs. Without any, nothing is signed."""

    keys: tuple[bytes, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        return bool(self.keys)

    def sign(self, message: bytes) -> bytes:
        """Returns the authentication code of a message by the first key; zeros without a key."""
        return _code(self.keys[0], message) if self.keys else bytes(MAC_BYTES)

    def is_signed(self, message: bytes, code: bytes) -> bool:
        """Returns whether a code is that of the message by one of the keys."""
        return any(hmac.compare_digest(_code(key, message), code) for key in self.keys)

    def fingerprints(self) -> frozenset[str]:
        """Returns a fingerprint of each key, which does not reveal the key; "unsigned" without
        any."""
        codes = (_code(key, _FINGERPRINT)[:4].hex() for key in self.keys)
        return frozenset(codes) or frozenset({"unsigned"})


def _code(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, hashlib.sha256)[:MAC_BYTES]


def read_keys(file: Path) -> Keys:
    """Returns the keys of a file; none if the file is missing.

    Raises BadInput for a file that others may read or that is another user's, and for one that
    holds something else than keys. No message has any of its content.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return Keys()
    except OSError as wrong:
        raise BadInput(f"cannot be read: {wrong.strerror}", where=str(file)) from wrong
    try:
        _must_be_private(file, os.fstat(descriptor))
        lines = os.read(descriptor, _MOST_BYTES).split()
    finally:
        os.close(descriptor)
    if not lines:
        hint = "write one made by `openssl rand -hex 32` into it, the same on every node"
        raise BadInput("has no key", where=str(file), hint=hint)
    return Keys(tuple(_key(file, number, line) for number, line in enumerate(lines, 1)))


def _must_be_private(file: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise BadInput("is not a regular file", where=str(file), hint="replace it by the key's")
    if found.st_uid not in (0, os.geteuid()):
        what = f"belongs to user {found.st_uid}, who knows the key"
        raise BadInput(what, where=str(file), hint="make a new key, and give the file to root")
    if mode := stat.S_IMODE(found.st_mode) & 0o077:
        what = f"others may use it (mode {stat.S_IMODE(found.st_mode):04o}, {mode:03o} too much)"
        raise BadInput(
            what, where=str(file), hint="make a new key, with mode 0600: others know this one"
        )


def _key(file: Path, number: int, line: bytes) -> bytes:
    try:
        key = bytes.fromhex(line.decode("ascii"))
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        what = f"word {number} is not a key of {2 * _KEY_BYTES} hexadecimal digits"
        raise BadInput(what, where=str(file), hint="write a key made by `openssl rand -hex 32`")
    return key
