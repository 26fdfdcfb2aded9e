"""Answers each request to the MDS. Files come as descriptors; answers are plain data."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import stat
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from vas_lab.lustre.mds import layouts
from vas_lab.lustre.mds.allocator import Allocator
from vas_lab.lustre.mds.board import Board
from vas_lab.lustre.mds.state import MdsState
from vas_lab.lustre.mds.usage import STORED, Usage
from vas_layout.codec import decode, encode
from vas_layout.errors import LayoutError
from vas_layout.model import Composite, Fid, Layout, Magic, Plain

_FID = "user.lustre.fid"
_MAX_POOL_CHARS = 15

Answer = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class MdsSite:
    """The file system that the MDS serves: its paths, name and OSTs."""

    state_dir: Path
    mount: Path
    fsname: str
    osts: Sequence[int]
    ost_bytes: int


class Service:
    """The MDS' operations, by name: `create`, `refresh`, `set`, `get`, `df`, pools, identifiers.

    `asked` counts the operations on files and directories since the start.
    """

    def __init__(self, site: MdsSite) -> None:
        self.site = site
        self.state = MdsState(site.state_dir, site.osts)
        self.usage = Usage(site.mount, site.state_dir, site.osts, site.ost_bytes)
        self.board = Board(site.state_dir)
        # Not for secrets: Lustre too starts at a random OST.
        self._allocator = Allocator(site.osts, random.Random())  # noqa: S311
        self._maker = layouts.Maker(
            self._choose, self.state.new_object, self._present, self.state.pools, site.osts
        )
        self._operations: dict[str, Callable[[dict[str, Any], int], Answer]] = {
            "create": self._create,
            "refresh": self._refresh,
            "set": self._set,
            "get": self._get,
            "fid2path": self._fid2path,
        }
        self._asked = 0
        self._plain: dict[str, Callable[[dict[str, Any]], Answer]] = {
            "ping": lambda _: {},
            "info": self._info,
            "df": self._df,
            "asked": lambda _: {"asked": self._asked},
            "pool": self._pool,
            "away": self._set_away,
            "count": self._count,
            "statistics": self._statistics,
            "remote_dir_gid": self._set_remote_dir_gid,
        }

    def answer(self, request: dict[str, Any], descriptor: int | None) -> Answer:
        """Executes a request and returns the answer. Raises OSError with the client's errno."""
        name = request.get("op", "")
        if name in self._plain:
            return self._plain[name](request)
        if name not in self._operations:
            raise OSError(errno.EOPNOTSUPP, name)
        if descriptor is None:
            raise OSError(errno.EBADF, name)
        self._asked += 1
        return self._operations[name](request, descriptor)

    def _choose(
        self, count: int, pool: Sequence[int] | None, start: int | None, avoid: Collection[int]
    ) -> list[int]:
        free = self.usage.available()
        away = self.board.away()
        return self._allocator.choose(count, free, pool=pool, start=start, avoid=avoid, away=away)

    def _present(self) -> list[int]:
        away = self.board.away()
        return [ost for ost in self.site.osts if ost not in away]

    # ---- layouts ----

    def _create(self, request: dict[str, Any], file: int) -> Answer:
        if _stored(_name(file)) is None:
            self._give(file, self._default(file))
        return {}

    def _default(self, file: int) -> Layout:
        parent = os.path.dirname(os.readlink(_name(file)))  # noqa: PTH115, PTH120
        for directory in (parent, str(self.site.mount)):
            raw = _stored(directory)
            if raw is not None:
                return _decode(raw)
        return layouts.DEFAULT

    def _give(self, file: int, request: Layout) -> None:
        _store(file, encode(self._maker.instantiate(request, self._fid(file))))

    def _refresh(self, request: dict[str, Any], file: int) -> Answer:
        raw = _stored(_name(file))
        if raw is None:
            return self._create(request, file)
        layout = _decode(raw)
        # A write that is about to happen needs its objects before the file is as long.
        wanted = int.from_bytes(bytes.fromhex(request.get("value", "")), "little")
        size = max(wanted, os.stat(_name(file)).st_size)  # noqa: PTH116
        grown = self._maker.grow(layout, size)
        if grown != layout:
            _store(file, encode(grown))
        return {}

    def _set(self, request: dict[str, Any], file: int) -> Answer:
        wanted = _decode(bytes.fromhex(request["value"]))
        mode = os.stat(_name(file)).st_mode  # noqa: PTH116
        if stat.S_ISDIR(mode):
            self._set_default(file, wanted)
        elif not stat.S_ISREG(mode):
            raise OSError(errno.EOPNOTSUPP, "not a file")
        elif request.get("migrate"):
            self._migrate(file, wanted)
        elif _stored(_name(file)) is not None:
            raise OSError(errno.EEXIST, "stripe already set")
        else:
            self._give(file, wanted)
        return {}

    def _set_default(self, directory: int, wanted: Layout) -> None:
        layouts.check(wanted, self.site.osts)
        if isinstance(wanted, Plain):
            wanted = layouts.as_request(wanted)
            if layouts.is_nothing(wanted):
                with contextlib.suppress(OSError):
                    os.removexattr(_name(directory), STORED)
                return
        os.setxattr(_name(directory), STORED, encode(wanted))

    def _migrate(self, file: int, wanted: Layout) -> None:
        # Every OST shares the one backing file: new objects are all that moving bytes takes. As in
        # Lustre the new layout is the request alone: mirrors go, and a pool that it does not name
        # is the directory's default, whatever pool the file was in.
        if isinstance(wanted, Plain) and wanted.pool is None:
            wanted = _in_pool(wanted, self._default(file))
        made = self._maker.instantiate(wanted, self._fid(file))
        _store(file, encode(self._maker.grow(made, os.stat(_name(file)).st_size)))  # noqa: PTH116

    def _get(self, request: dict[str, Any], file: int) -> Answer:
        info = os.stat(_name(file))  # noqa: PTH116
        if stat.S_ISREG(info.st_mode) and info.st_size > 0:
            self._refresh(request, file)
        raw = _stored(_name(file))
        return {"layout": None if raw is None else raw.hex(), "fid": str(self._fid(file))}

    # ---- identifiers ----

    def _fid(self, file: int) -> Fid:
        try:
            text = os.getxattr(_name(file), _FID).decode()
        except OSError as missing:
            if missing.errno != errno.ENODATA:
                raise
            fid = self.state.new_file()
            _set_xattr(file, _FID, str(fid).encode())
            return fid
        return Fid(*(int(part, 16) for part in text.split(":")))

    def _fid2path(self, request: dict[str, Any], root: int) -> Answer:
        wanted = request["fid"].encode()
        for directory, names, files in os.walk(os.readlink(_name(root))):  # noqa: PTH115
            for name in (".", *names, *files):
                path = os.path.normpath(os.path.join(directory, name))  # noqa: PTH118
                with contextlib.suppress(OSError):
                    if os.getxattr(path, _FID, follow_symlinks=False) == wanted:
                        return {"path": os.fsencode(path).hex()}
        raise OSError(errno.ENOENT, request["fid"])

    # ---- the file system ----

    def _info(self, request: dict[str, Any]) -> Answer:
        return {
            "fsname": self.site.fsname,
            "osts": list(self.site.osts),
            "pools": self.state.pools,
            "enable_remote_dir_gid": self.state.remote_dir_gid,
            "away": sorted(self.board.away()),
        }

    def _df(self, request: dict[str, Any]) -> Answer:
        self.usage.count_now()
        osts = {
            str(ost): {
                "used_bytes": self.usage.used_on(ost),
                "total_bytes": self.usage.ost_bytes,
                "objects": self.usage.objects[ost],
            }
            for ost in self.site.osts
        }
        return {"osts": osts, "files": self.usage.files}

    def _set_away(self, request: dict[str, Any]) -> Answer:
        """`ost` fails with `error`, an errno, from now on; 0 brings it back."""
        if request["ost"] not in self.site.osts:
            raise OSError(errno.ENODEV, "no such OST")
        self.board.set_away(request["ost"], request["error"])
        return {}

    def _count(self, request: dict[str, Any]) -> Answer:
        """Starts (`on` true) or stops counting, or neither (null); answers the counts before."""
        counts = self.board.requests()
        if request["on"] is not None:
            self.board.count(on=request["on"])
        return counts

    def _statistics(self, request: dict[str, Any]) -> Answer:
        """The counted requests to `ost`; null while nothing is counted."""
        return {"requests": self.board.requests_of(request["ost"])}

    def _set_remote_dir_gid(self, request: dict[str, Any]) -> Answer:
        self.state.remote_dir_gid = int(request["gid"])
        self.state.save()
        return {}

    def _pool(self, request: dict[str, Any]) -> Answer:
        """`action` new, destroy, add or remove; `pool`; `osts` for the last two."""
        pools, action, name = self.state.pools, request["action"], request["pool"]
        if action == "new":
            if name in pools:
                raise OSError(errno.EEXIST, name)
            if not 0 < len(name) <= _MAX_POOL_CHARS:
                raise OSError(errno.ENAMETOOLONG, name)
            pools[name] = []
        elif name not in pools:
            raise OSError(errno.ENOENT, name)
        elif action == "destroy":
            if pools[name]:
                raise OSError(errno.ENOTEMPTY, name)
            del pools[name]
        else:
            self._change_members(action, pools[name], request["osts"])
        self.state.save()
        return {}

    def _change_members(self, action: str, members: list[int], osts: list[int]) -> None:
        if not set(osts) <= set(self.site.osts):
            raise OSError(errno.ENOENT, "no such OST")
        left = [ost for ost in members if ost not in osts]
        members[:] = left if action == "remove" else sorted({*left, *osts})


def _name(descriptor: int) -> str:
    # Works for O_PATH descriptors too, where the f... calls give EBADF.
    return f"/proc/self/fd/{descriptor}"


def _stored(path: str) -> bytes | None:
    try:
        return os.getxattr(path, STORED)
    except OSError as missing:
        if missing.errno in (errno.ENODATA, errno.ENOENT):
            return None
        raise


def _store(file: int, value: bytes) -> None:
    _set_xattr(file, STORED, value)


def _set_xattr(file: int, name: str, value: bytes) -> None:
    try:
        os.setxattr(_name(file), name, value)
    except PermissionError:
        # A file created read-only still has its creator write: so must its xattr.
        mode = stat.S_IMODE(os.stat(_name(file)).st_mode)  # noqa: PTH116
        os.chmod(_name(file), mode | stat.S_IWUSR)  # noqa: PTH101
        try:
            os.setxattr(_name(file), name, value)
        finally:
            os.chmod(_name(file), mode)  # noqa: PTH101


def _in_pool(wanted: Plain, default: Layout) -> Plain:
    part = default.components[0].layout if isinstance(default, Composite) else default
    pool = part.pool if isinstance(part, Plain) else None
    if pool is None or wanted.magic is Magic.SPECIFIC:
        return wanted
    return replace(wanted, pool=pool, magic=Magic.V3)


@lru_cache(maxsize=1024)
def _decode(raw: bytes) -> Layout:
    try:
        return decode(raw)
    except LayoutError as wrong:
        raise OSError(errno.EINVAL, wrong.what) from wrong
