"""Programs that run in the lab with the preloaded library, and what they see of layouts."""

from __future__ import annotations

import json
import sys
from typing import Any

from vas_core.process import run
from vas_lab.lustre.stand_in import LabLustre
from vas_layout.codec import decode

_PRELUDE = """
import errno, json, os, stat, sys, tempfile
def lov(path): return os.getxattr(path, "lustre.lov").hex()
def fails(call, *arguments):
    try: call(*arguments)
    except OSError as failed: return errno.errorcode[failed.errno]
    return None
answer = None
"""


def child(lab: LabLustre, code: str) -> Any:
    """Runs Python code in the lab; returns what it left in `answer`."""
    program = f"{_PRELUDE}\n{code}\nprint(json.dumps(answer))"
    argv = [sys.executable, "-c", program]
    done = run(argv, env=lab.environment(), cwd=lab.mount, timeout_seconds=60)
    return json.loads(done.stdout)


def layout_of(lab: LabLustre, name: str) -> Any:
    """A file's layout as a program of the lab reads it."""
    return decode(bytes.fromhex(child(lab, f"answer = lov({name!r})")))


def objects(layout: Any) -> list[str]:
    """The FIDs of a plain layout's objects."""
    return [str(item.fid) for item in layout.objects]
