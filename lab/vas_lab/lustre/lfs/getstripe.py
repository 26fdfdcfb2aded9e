"""The command `lfs getstripe` of the lab's `lfs`."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

from vas_lab.lustre.lfs import usage
from vas_lab.lustre.lfs.client import LfsClient, err, out
from vas_lab.lustre.lfs.options import Option, Parsed, UsageError, parse
from vas_lab.lustre.lfs.render import directory_text, file_text
from vas_lab.lustre.lfs.view import DEFAULT, VERBOSE, Show, View
from vas_lab.lustre.mds.layouts import DEFAULT_STRIPE_SIZE
from vas_layout.as_json import layout_json
from vas_layout.codec import decode
from vas_layout.model import MDT, Composite, Layout, Magic, Plain

_OPTIONS = (
    Option("ost", "O", "required"),
    Option("obd", "", "required"),
    Option("quiet", "q"),
    Option("verbose", "v"),
    Option("stripe-count", "c"),
    Option("stripe-index", "i"),
    Option("fid", "F"),
    Option("pool", "p"),
    Option("stripe-size", "S"),
    Option("directory", "d"),
    Option("default", "D"),
    Option("mdt-index", "m"),
    Option("recursive", "r"),
    Option("raw", "R"),
    Option("layout", "L"),
    Option("generation", "g"),
    Option("yaml", "y"),
    Option("hex-idx"),
    Option("component-count"),
    Option("no-follow"),
    Option("help", "h"),
)
_ATTRIBUTES = {
    "stripe-count": Show.COUNT,
    "stripe-index": Show.OFFSET,
    "fid": Show.FID,
    "pool": Show.POOL,
    "stripe-size": Show.SIZE,
    "mdt-index": Show.MDT,
    "layout": Show.PATTERN,
    "generation": Show.GENERATION,
    "component-count": Show.COMPONENT_COUNT,
}
_NO_DEFAULT = Plain(Magic.V1, 0, 0, 0)
# A directory's default for new directories, at the root; each level below has one less.
_ROOT_MAX_INHERIT_RR = 3


@dataclass(frozen=True)
class _Request:
    client: LfsClient
    view: View
    depth: int | None
    mdt_defaults: bool


def getstripe(client: LfsClient, words: list[str]) -> int:
    """Runs `lfs getstripe`: prints layouts; returns the exit status, 0 or the last errno."""
    try:
        parsed = parse(words, _OPTIONS)
        if not parsed.operands:
            raise UsageError("error: getstripe: no filename|pathname")
    except UsageError as wrong:
        out(usage.GETSTRIPE)
        err(str(wrong))
        return 4
    if parsed.has("help"):
        out(usage.GETSTRIPE)
        return 0
    request = _request(client, parsed)
    status = 0
    for path in parsed.operands:
        try:
            _start(request, path)
        except OSError as failed:
            status = failed.errno or errno.EIO
            err(f"lfs: getstripe for '{path}' failed: {os.strerror(status)}")
    return status


def _request(client: LfsClient, parsed: Parsed) -> _Request:
    chosen = [_ATTRIBUTES[name] for name, _ in parsed.options if name in _ATTRIBUTES]
    show = reduce(or_, chosen) if chosen else DEFAULT
    if parsed.has("quiet"):
        show = Show.OBJECTS
    if parsed.has("verbose"):
        show = VERBOSE
    depth: int | None = 0 if chosen or parsed.has("directory") else 1
    if parsed.has("verbose"):
        depth = 1
    if parsed.has("recursive"):
        depth = None
    ost = parsed.value("ost") or parsed.value("obd")
    view = View(
        show,
        yaml=parsed.has("yaml"),
        raw=parsed.has("raw"),
        hex_index=parsed.has("hex-idx"),
        header=depth != 0,
        ost=None if ost is None else ost_index(ost),
    )
    return _Request(client, view, depth, parsed.has("default"))


def ost_index(name: str) -> int:
    """Returns the index in `fs-OST0001_UUID`, in `fs-OST0001`, or of a plain number."""
    _, found, rest = name.partition("-OST")
    return int(rest[:4], 16) if found else int(name, 0)


def _start(request: _Request, path: str) -> None:
    mode = os.stat(path).st_mode  # noqa: PTH116
    if request.view.ost is not None and not stat.S_ISDIR(mode):
        err(f"lfs getstripe: open {path} failed: Not a directory (20)")
        raise OSError(errno.ENOTDIR, "")
    if stat.S_ISDIR(mode):
        _directory(request, path, request.depth)
    else:
        # lfs opens the parent, and needs to read it.
        os.close(os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY))  # noqa: PTH120
        _entry(request, path)


def _directory(request: _Request, path: str, depth: int | None) -> None:
    try:
        children = list(os.scandir(path)) if depth != 0 else []
    except PermissionError as denied:
        err(
            f"lfs getstripe: llapi_semantic_traverse: Failed to open '{path}': "
            f"{os.strerror(errno.EACCES)} ({errno.EACCES})"
        )
        raise denied
    if request.view.ost is None:
        _default(request, path)
    below = None if depth is None else depth - 1
    for child in children:
        if not child.is_dir(follow_symlinks=False):
            if not request.mdt_defaults:
                _entry(request, child.path, is_listed=True)
        elif below is None:
            _directory(request, child.path, None)
        else:
            _default(request, child.path)


def _default(request: _Request, path: str) -> None:
    if request.view.show == Show.MDT:
        out("0\n")
        return
    answer = _get(request.client, path)
    if request.mdt_defaults:
        _mdt_default(request, path)
        return
    raw = answer["layout"]
    own = decode(bytes.fromhex(raw)) if raw else None
    layout = own or _inherited(request.client) or _NO_DEFAULT
    if not request.view.raw:
        layout = _filled(layout)
    view = request.view
    out(directory_text(path, layout_json(layout), answer["fid"], view, is_own=own is not None))


def _inherited(client: LfsClient) -> Layout | None:
    """The root's default is that of every directory without one."""
    raw = client.on_file("get", str(client.mount))["layout"]
    return decode(bytes.fromhex(raw)) if raw else None


def _filled(layout: Layout) -> Layout:
    """With the file system's defaults for what a directory leaves open."""
    if isinstance(layout, Composite):
        parts = tuple(
            replace(part, layout=_filled(part.layout))  # type: ignore[arg-type]
            for part in layout.components
        )
        return replace(layout, components=parts)
    if not isinstance(layout, Plain) or layout.pattern == MDT:
        return layout
    return replace(
        layout,
        stripe_size=layout.stripe_size or DEFAULT_STRIPE_SIZE,
        stripe_count=layout.stripe_count or 1,
    )


def _mdt_default(request: _Request, path: str) -> None:
    assert request.client.mount is not None
    real = os.path.realpath(path)
    level = len(os.path.relpath(real, request.client.mount.resolve()).split("/"))
    left = max(_ROOT_MAX_INHERIT_RR - level, 0)
    out(
        f"(Default){path}\nlmv_stripe_count: 1 lmv_stripe_offset: -1 lmv_hash_type: none "
        f"lmv_max_inherit: -1 lmv_max_inherit_rr: {left}\n"
    )


def _entry(request: _Request, path: str, *, is_listed: bool = False) -> None:
    if request.view.show == Show.MDT:
        out("0\n")
        return
    if not stat.S_ISREG(os.lstat(path).st_mode):
        out(f"{path} has no stripe info\n")
        return
    answer = _get(request.client, path)
    if answer["layout"] is None:
        out(f"{path} has no stripe info\n")
        return
    layout = layout_json(decode(bytes.fromhex(answer["layout"])))
    ost = request.view.ost
    if ost is None or _is_on(layout, ost):
        if is_listed and layout["type"] == "foreign" and request.view.header:
            # Named only in a directory's listing: lfs forgets it for a file asked for itself.
            out(f"{path}\n")
        out(file_text(path, layout, answer["fid"], request.view))


def _get(client: LfsClient, path: str) -> Any:
    try:
        return client.on_file("get", path)
    except OSError as failed:
        if failed.errno == errno.ENOTTY:
            err(
                f"lfs getstripe: cb_getstripe: '{path}' not on a Lustre fs?: "
                f"{os.strerror(errno.ENOTTY)} ({errno.ENOTTY})"
            )
        raise


def _is_on(layout: dict[str, Any], ost: int) -> bool:
    # A foreign layout is printed whatever was asked.
    parts = [part["layout"] for part in layout.get("components", ())] or [layout]
    return layout["type"] == "foreign" or any(
        item["ost_idx"] == ost for part in parts for item in part.get("objects", ())
    )
