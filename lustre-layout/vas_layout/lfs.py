"""Runs `lfs`: the fallback where the extended attribute cannot be read, and `lfs migrate`."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_core.process import Completed, run
from vas_layout.errors import LayoutError, LayoutUnavailableError
from vas_layout.lfs_text import parse_getstripe_yaml
from vas_layout.model import Layout, Plain
from vas_layout.reasons import refusal

_USAGE = 4
# Printed with status 0, for a symbolic link for example.
_NO_LAYOUT = "has no stripe info"
_NO_PATTERN = re.compile(r"^pattern:\s*$", re.MULTILINE)
_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Lfs:
    """Runs an `lfs` of Lustre 2.15 or later, with absolute paths, as it takes no `--`.

    All methods raise NotHere if it is not installed, CommandFailed if it does not end in time.
    """

    program: str = "lfs"

    def getstripe(self, path: Path, *, directory_itself: bool = False) -> Layout:
        """Returns the layout of a file, or the default of a directory.

        `directory_itself`: the default of this directory rather than layouts of its files. Raises
        LayoutUnavailableError; its `errno` is ENODATA for a path without a layout.
        """
        itself = ["-d"] if directory_itself else []
        done = self._run(["getstripe", "-y", *itself], path)
        said = done.stdout.strip()
        # A directory without a default: `lfs` prints the file system's, which has no pattern.
        inherits = directory_itself and _NO_PATTERN.search(said)
        if not said or said.endswith(_NO_LAYOUT) or inherits:
            raise LayoutUnavailableError(
                "has no layout of its own", where=str(path), errno=errno.ENODATA
            )
        try:
            return parse_getstripe_yaml(done.stdout)
        except LayoutError as wrong:
            raise LayoutUnavailableError(wrong.what, where=str(path)) from wrong

    def setstripe(self, path: Path, request: Plain) -> None:
        """Sets the layout of a file that has none yet. Raises LayoutUnavailableError."""
        words = ["setstripe", "-S", str(request.stripe_size), "-c", str(request.stripe_count)]
        if request.objects:
            words += ["-o", ",".join(str(one.ost_idx) for one in request.objects)]
        elif request.stripe_offset is not None:
            words += ["-i", str(request.stripe_offset)]
        self._run([*words, *(["-p", request.pool] if request.pool else [])], path)

    def migrate(self, path: Path, *, size: int, count: int, pool: str | None = None) -> None:
        """Moves a file's data to new stripes of `size` bytes, unless the file is in use.

        Without `--non-block` `lfs` blocks readers and writers until all is copied, which is longer
        than a task may be silent. Raises LayoutUnavailableError, with the errno EBUSY or EAGAIN if
        the file is in use; the file is as before then.
        """
        chosen = ["-p", pool] if pool else []
        words = ["migrate", "--non-block", "-S", str(size), "-c", str(count), *chosen]
        self._run(words, path, None)

    def instance(self, mount: Path) -> str:
        """Returns the client instance of a mount, which is part of names in sysfs.

        Raises LayoutUnavailableError.
        """
        return self._run(["getname", "-i"], mount).stdout.strip()

    def pools(self, directory: Path) -> list[str]:
        """Returns the pools of the file system of `directory`, without the file system's name.

        Raises LayoutUnavailableError if `lfs` fails.
        """
        lines = self._run(["pool_list"], directory).stdout.splitlines()
        return [line.strip().partition(".")[2] for line in lines if "." in line.split(":")[0]]

    def pool_osts(self, directory: Path, pool: str) -> int | None:
        """Returns the number of OSTs in a pool; None if the pool does not exist.

        The pool belongs to the file system of `directory`. Raises LayoutUnavailableError if `lfs`
        fails.
        """
        lines = map(str.strip, self._run(["pool_list"], directory).stdout.splitlines())
        found = next((line for line in lines if line.partition(".")[2] == pool), None)
        if found is None:
            return None
        members = run([self.program, "pool_list", found], timeout_seconds=_TIMEOUT_SECONDS).stdout
        return sum(1 for line in members.splitlines() if line.strip().endswith("_UUID"))

    def active_osts(self, directory: Path) -> int:
        """Returns the number of active OSTs of the file system of `directory`.

        Raises LayoutUnavailableError if `lfs` fails.
        """
        lines = self._run(["osts"], directory).stdout.splitlines()
        return sum(1 for line in lines if line.split()[2:] == ["ACTIVE"])

    def _run(
        self, words: Sequence[str], path: Path, timeout_seconds: float | None = _TIMEOUT_SECONDS
    ) -> Completed:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow the link
        done = run([self.program, *words, absolute], check=False, timeout_seconds=timeout_seconds)
        if done.status != 0:
            raise _failure(done, path)
        return done


def _failure(done: Completed, path: Path) -> LayoutUnavailableError:
    said = done.stderr.strip().splitlines()
    if done.status == _USAGE:
        return LayoutUnavailableError(
            f"lfs does not take this: {said[-1] if said else done.command}", where=str(path)
        )
    known = errno.errorcode.get(done.status) is not None
    what, hint = refusal(done.status) if known else ("lfs failed", None)
    detail = f" (lfs: {said[0]})" if said else ""
    return LayoutUnavailableError(
        f"{what}{detail}", where=str(path), hint=hint, errno=done.status if known else None
    )
