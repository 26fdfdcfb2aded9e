"""`python -m vas_lab.lustre.lfs`: the lab's `lfs`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable

from vas_lab.lustre.lfs import names, space
from vas_lab.lustre.lfs.client import VERSION, LfsClient, err, out
from vas_lab.lustre.lfs.getstripe import getstripe
from vas_lab.lustre.lfs.setstripe import migrate, setstripe

_COMMANDS: dict[str, Callable[[LfsClient, list[str]], int]] = {
    "check": space.check,
    "df": space.df,
    "fid2path": names.fid2path,
    "getdirstripe": names.getdirstripe,
    "getname": space.getname,
    "getstripe": getstripe,
    "mdts": space.mdts,
    "migrate": migrate,
    "mkdir": names.mkdir,
    "osts": space.osts,
    "path2fid": names.path2fid,
    "pool_list": names.pool_list,
    "setdirstripe": names.mkdir,
    "setstripe": setstripe,
}


def main(words: list[str]) -> int:
    """Runs one command of lfs; returns its exit status."""
    if words[:1] in (["--version"], ["-V"]):
        out(f"lfs {VERSION}\n")
        return 0
    command = _COMMANDS.get(words[0]) if words else None
    if command is None:
        err(f"lfs: the lab's stand-in knows: {', '.join(sorted(_COMMANDS))}")
        return 4
    try:
        return command(LfsClient.of(os.environ), words[1:])
    except OSError as failed:
        # The MDS is gone or refuses: a real client would wait for it.
        err(f"lfs {words[0]}: {failed.strerror or failed} ({failed.errno})")
        return failed.errno or errno.EIO
    finally:
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
