"""The `lctl` of a lab, `python -m vas_lab.lustre.lctl`: pools, inactive OSTs, parameters."""

from __future__ import annotations

import errno
import os
import re
import sys
from fnmatch import fnmatchcase

from vas_lab.lustre.lfs.client import INSTANCE, VERSION, LfsClient, err, out
from vas_lab.lustre.lfs.names import pool_list

_ACTIONS = {
    "pool_new": ("new", "created"),
    "pool_destroy": ("destroy", "destroyed"),
    "pool_add": ("add", "added to pool"),
    "pool_remove": ("remove", "removed from pool"),
}


def main(words: list[str]) -> int:
    """Runs one command of lctl; returns its exit status."""
    if words[:1] == ["--version"]:
        out(f"lctl {VERSION}\n")
        return 0
    client = LfsClient.of(os.environ)
    if words[:1] == ["pool_list"]:
        return pool_list(client, words[1:])
    if len(words) < 2 or words[0] not in (*_ACTIONS, "set_param", "get_param"):
        err(
            f"lctl: the lab's stand-in knows: pool_list, {', '.join(_ACTIONS)} FSNAME.POOL "
            "[OST...], set_param osc.OST.active=0|1, set_param mdt.*.enable_remote_dir_gid=GID, "
            "get_param osc.OST.stats"
        )
        return 4
    try:
        if words[0] == "set_param":
            return _set_params(client, [word for word in words[1:] if word != "-P"])
        if words[0] == "get_param":
            return _get_params(client, words[1:])
        return _change(client, words[0], words[1], words[2:])
    except OSError as failed:
        err(f"lctl {words[0]}: {words[1]}: {failed.strerror}")
        return failed.errno or errno.EIO


def _change(client: LfsClient, command: str, full_name: str, targets: list[str]) -> int:
    action, done = _ACTIONS[command]
    fsname, _, pool = full_name.partition(".")
    if fsname != client.info()["fsname"] or not pool:
        err(f"lctl {command}: '{full_name}' is not FSNAME.POOL of this file system")
        return errno.EINVAL
    if action in ("new", "destroy"):
        client.ask("pool", action=action, pool=pool)
        out(f"Pool {full_name} {done}\n")
        return 0
    osts = [index for target in targets for index in _indices(target)]
    client.ask("pool", action=action, pool=pool, osts=osts)
    for index in osts:
        out(f"OST {fsname}-OST{index:04x}_UUID {done} {full_name}\n")
    return 0


def _set_params(client: LfsClient, settings: list[str]) -> int:
    for setting in settings:
        name, _, value = setting.partition("=")
        osts = _named_osts(client, name)
        if osts and value in ("0", "1"):
            for ost in osts:
                client.ask("away", ost=ost, error=0 if value == "1" else errno.ESHUTDOWN)
        elif re.fullmatch(r"mdt\..+\.enable_remote_dir_gid", name):
            client.ask("remote_dir_gid", gid=int(value))
        else:
            err(f"lctl set_param: {setting}: not known to the lab's stand-in")
            return errno.ENOENT
        out(f"{setting}\n")
    return 0


def _get_params(client: LfsClient, patterns: list[str]) -> int:
    """Prints what this client asked each OST; as on a real one what is not there is an error."""
    status = 0
    for pattern in patterns:
        osts = _named_osts(client, pattern, "stats")
        told = {ost: client.ask("statistics", ost=ost)["requests"] for ost in osts}
        if not osts or None in told.values():
            err(f"lctl get_param: {pattern}: requests are not counted in this lab")
            status = errno.ENOENT
            continue
        for ost, requests in told.items():
            out(f"osc.{client.info()['fsname']}-OST{ost:04x}-osc-{INSTANCE}.stats=\n")
            for kind, name in _STATISTICS.items():
                if requests[kind]:
                    out(f"{name:<25} {requests[kind]} samples [usecs] 0 0 0 0\n")
    return status


# What Lustre's client calls them. Destroys are the MDT's own requests.
_STATISTICS = {
    "reads": "ost_read",
    "writes": "ost_write",
    "punches": "ost_punch",
    "syncs": "ost_sync",
    "glimpses": "ldlm_glimpse_enqueue",
}


def _named_osts(client: LfsClient, name: str, parameter: str = "active") -> list[int]:
    """The OSTs whose parameter is named: `osc.lab-OST0001-*.active`, wildcards as the shell's."""
    info, (kind, _, rest) = client.info(), name.partition(".")
    if kind not in ("osc", "osp") or not rest.endswith(f".{parameter}"):
        return []
    full = f"{info['fsname']}-OST{{:04x}}-osc-{INSTANCE}.{parameter}"
    return [ost for ost in info["osts"] if fnmatchcase(full.format(ost), rest)]


def _indices(target: str) -> list[int]:
    """`fs-OST0001_UUID`, `OST0001`, `OST[0-2]` or `OST[1,3]`; numbers are hexadecimal."""
    match = re.fullmatch(r"(?:\w+-)?OST(?:\[([0-9a-f,-]+)\]|([0-9a-f]{1,4}))(?:_UUID)?", target)
    if match is None:
        raise OSError(errno.EINVAL, f"{target!r} is not an OST")
    found: list[int] = []
    for part in (match[1] or match[2]).split(","):
        first, _, last = part.partition("-")
        found += range(int(first, 16), int(last or first, 16) + 1)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
