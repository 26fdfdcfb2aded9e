"""Runs `lfs setstripe` and `lfs migrate` of the lab's `lfs`."""

from __future__ import annotations

import errno
import fcntl
import os
import stat

from vas_lab.lustre.lfs import usage
from vas_lab.lustre.lfs.client import O_LOV_DELAY_CREATE, LfsClient, err, out
from vas_lab.lustre.lfs.layout_options import (
    OPTIONS,
    RefusedLayout,
    is_asked,
    misaligned,
    request_of,
)
from vas_lab.lustre.lfs.options import Option, Parsed, UsageError, parse
from vas_lab.lustre.mds.layouts import DEFAULT
from vas_layout.codec import decode, encode
from vas_layout.model import Composite, Layout, Plain

_MIGRATE_ONLY = (Option("block", "b"), Option("non-block", "n"), Option("verbose", "v"))
_HAS_LAYOUT = "stripe already set"


def setstripe(client: LfsClient, words: list[str]) -> int:
    """Creates files with a layout, or sets directories' default; returns the exit status."""
    return _run(client, words, is_migrate=False)


def migrate(client: LfsClient, words: list[str]) -> int:
    """Gives existing files a new layout; returns the exit status."""
    return _run(client, words, is_migrate=True)


def _run(client: LfsClient, words: list[str], *, is_migrate: bool) -> int:
    try:
        parsed = parse(words, OPTIONS + (_MIGRATE_ONLY if is_migrate else ()))
        if parsed.has("help"):
            out(usage.SETSTRIPE)
            return 0
        if not parsed.operands:
            raise UsageError("lfs setstripe setstripe: FILE must be specified")
        request = _request(client, parsed)
    except UsageError as wrong:
        out(usage.SETSTRIPE)
        err(str(wrong))
        return 4
    except RefusedLayout as refused:
        for line in refused.lines:
            err(line)
        return refused.status
    mode = int(parsed.value("mode") or "0644", 8)
    blocks = not (is_migrate and parsed.has("non-block"))
    statuses = [_one(client, path, request, mode, is_migrate, blocks) for path in parsed.operands]
    return next((status for status in reversed(statuses) if status), 0)


def _request(client: LfsClient, parsed: Parsed) -> Layout:
    source = parsed.value("copy")
    if source:
        raw = client.on_file("get", source)["layout"]
        return decode(bytes.fromhex(raw)) if raw else DEFAULT
    if parsed.has("delete") or not is_asked(parsed):
        return DEFAULT
    request = request_of(parsed, parsed.operands[0])
    assert request is not None
    _check_pools(client, request)
    return request


def _check_pools(client: LfsClient, request: Layout) -> None:
    composite = request.components if isinstance(request, Composite) else ()
    for part in (request, *(component.layout for component in composite)):
        if isinstance(part, Plain) and part.pool:
            info = client.info()
            if part.pool not in info["pools"]:
                raise RefusedLayout(
                    errno.EINVAL,
                    f"lfs setstripe: pool '{part.pool} fsname {info['fsname']}' does not exist: "
                    f"{os.strerror(errno.ENOENT)} ({errno.ENOENT})",
                )


def _one(
    client: LfsClient, path: str, request: Layout, mode: int, is_migrate: bool, blocks: bool
) -> int:
    if misaligned(request):
        err(
            "lfs setstripe: Invalid layout: The component end must be aligned by the stripe size\n"
            f"lfs setstripe: lfs setstripe: cannot create composite file '{path}': "
            f"{os.strerror(errno.EINVAL)} ({errno.EINVAL})"
        )
        return errno.EINVAL
    try:
        file = _open(path, mode, is_migrate)
    except OSError as failed:
        status = failed.errno or errno.EIO
        err(f"lfs setstripe: unable to open '{path}': {os.strerror(status)} ({status})")
        return status
    try:
        return _set(client, path, file, request, is_migrate, blocks)
    finally:
        os.close(file)


def _open(path: str, mode: int, is_migrate: bool) -> int:
    if is_migrate:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):  # noqa: PTH116
            return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        pass
    flags = os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC | O_LOV_DELAY_CREATE
    return os.open(path, flags, mode)


def _set(
    client: LfsClient, path: str, file: int, request: Layout, is_migrate: bool, blocks: bool
) -> int:
    try:
        if not client.holds(path):
            raise OSError(errno.ENOTTY, "")
        if is_migrate and not blocks:
            _refuse_in_use(file)
        client.on_file("set", file, value=encode(request).hex(), migrate=is_migrate)
    except OSError as failed:
        status = failed.errno or errno.EIO
        reason = _HAS_LAYOUT if status == errno.EEXIST else os.strerror(status)
        verb = "migrate" if is_migrate else "setstripe"
        err(f"lfs {verb}: {verb} error for '{path}': {reason}")
        return status
    return 0


def _refuse_in_use(file: int) -> None:
    """Raises OSError(EBUSY) if somebody else has the file open, as Lustre's own lease does."""
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except BlockingIOError:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY)) from None
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
