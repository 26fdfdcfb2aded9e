"""`lfs path2fid`, `fid2path`, `getdirstripe`, `mkdir`, `setdirstripe` and pools."""

from __future__ import annotations

import errno
import os

from vas_lab.lustre.lfs.client import LfsClient, err, out
from vas_lab.lustre.lfs.options import Option, Parsed, UsageError, parse

_DIRECTORY_OPTIONS = (
    Option("mdt-index", "i", "required"),
    Option("mdt-count", "c", "required"),
    Option("mdt-hash", "H", "required"),
    Option("default", "D"),
    Option("mode", "m", "required"),
    Option("yaml", "y"),
)


def path2fid(client: LfsClient, words: list[str]) -> int:
    """Runs `lfs path2fid`: prints `[FID]`, after the path if there are several.

    Returns the exit status: 4 for a wrong option, else 0 or the last errno.
    """
    parsed = _parsed(words, (Option("parents"),))
    if parsed is None:
        return 4
    status = 0
    for path in parsed.operands:
        try:
            if parsed.has("parents"):
                parent, name = os.path.split(os.path.abspath(path))  # noqa: PTH100
                out(f"[{_fid(client, parent)}]/{name}\n")
                continue
            lead = f"{path}: " if len(parsed.operands) > 1 else ""
            out(f"{lead}[{_fid(client, path)}]\n")
        except OSError as failed:
            # Other file systems have no such xattr, and lfs says just that.
            status = errno.ENODATA if failed.errno == errno.ENOTTY else failed.errno or errno.EIO
            err(f"lfs path2fid: cannot get fid for '{path}': {os.strerror(status)}")
    return status


def _fid(client: LfsClient, path: str) -> str:
    return str(client.on_file("get", path)["fid"])


def fid2path(client: LfsClient, words: list[str]) -> int:
    """Runs `lfs fid2path MOUNT FID...`: prints the first name found in a walk over the mount.

    Returns the exit status: 0 or the last errno.
    """
    root, *fids = words
    status = 0
    for fid in fids:
        try:
            found = client.on_file("fid2path", root, fid=fid.strip("[]"))
            out(os.fsdecode(bytes.fromhex(found["path"])) + "\n")
        except OSError as failed:
            status = failed.errno or errno.EIO
            err(f"lfs fid2path: cannot find {root} {fid}: {os.strerror(status)}")
    return status


def getdirstripe(client: LfsClient, words: list[str]) -> int:
    """Runs `lfs getdirstripe`: no directory is striped, as the lab has one MDT.

    Returns the exit status. Raises OSError for a path that is not on the file system.
    """
    parsed = _parsed(words, _DIRECTORY_OPTIONS)
    if parsed is None:
        return 4
    for path in parsed.operands:
        client.on_file("get", path)
        out("lmv_stripe_count: 0 lmv_stripe_offset: 0 lmv_hash_type: none\n")
    return 0


def mkdir(client: LfsClient, words: list[str]) -> int:
    """Runs `lfs mkdir`: makes directories on MDT 0; returns the exit status.

    More MDTs are refused, as the lab has one: with EPERM if the user may not ask for them, as
    Lustre does by mdt.*.enable_remote_dir_gid, else with EINVAL.
    """
    parsed = _parsed(words, _DIRECTORY_OPTIONS)
    if parsed is None:
        return 4
    status = 0
    for path in parsed.operands:
        index, count = parsed.value("mdt-index"), parsed.value("mdt-count")
        try:
            if (index or "0") not in ("0", "-1") or int(count or "1") > 1:
                raise OSError(errno.EINVAL if _may_stripe(client) else errno.EPERM, "")
            os.mkdir(path)  # noqa: PTH102
        except OSError as failed:
            status = failed.errno or errno.EIO
            reason = os.strerror(status)
            err(f"lfs mkdir: dirstripe error on '{path}': {reason}")
    return status


def _may_stripe(client: LfsClient) -> bool:
    # mdt_reint_create: root, members of that group, or all where it is -1.
    allowed: int = client.info()["enable_remote_dir_gid"]
    return os.geteuid() == 0 or allowed in (-1, os.getegid())


def pool_list(client: LfsClient, words: list[str]) -> int:
    """Runs `lfs pool_list`: FSNAME or MOUNT lists the pools, FSNAME.POOL its OSTs.

    Returns the exit status. Raises OSError if the MDS does not answer.
    """
    if len(words) != 1:
        err("lfs pool_list: one file system or pool must be named")
        return 4
    info = client.info()
    fsname, pools = info["fsname"], info["pools"]
    name, dot, pool = words[0].rpartition(".")
    if not dot or "/" in words[0]:
        out(f"Pools from {fsname}:\n")
        for each in sorted(pools):
            out(f"{fsname}.{each}\n")
        return 0
    if name != fsname or pool not in pools:
        err(f"lfs pool_list: cannot open pool '{words[0]}': {os.strerror(errno.ENOENT)}")
        return errno.ENOENT
    out(f"Pool: {fsname}.{pool}\n")
    for index in pools[pool]:
        out(f"{fsname}-OST{index:04x}_UUID\n")
    return 0


def _parsed(words: list[str], options: tuple[Option, ...]) -> Parsed | None:
    try:
        return parse(words, options)
    except UsageError as wrong:
        err(str(wrong))
        return None
