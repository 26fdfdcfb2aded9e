"""Runs `lfs`: the fallback where the extended attribute cannot be read, and `lfs migrate`."""

from __future__ import annotations

import errno
import os
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
_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Lfs:
    """An `lfs` of 2.15 or later. File names go as absolute paths: `lfs` takes no `--`."""

    program: str = "lfs"

    def getstripe(self, path: Path, *, directory_itself: bool = False) -> Layout:
        """The layout of a file, or of a directory's default. Raises LayoutUnavailableError."""
        itself = ["-d"] if directory_itself else []
        done = self._run(["getstripe", "-y", *itself], path)
        if not done.stdout.strip() or done.stdout.rstrip().endswith(_NO_LAYOUT):
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
        """Moves a file's data to new stripes; readers and writers may go on meanwhile."""
        chosen = ["-p", pool] if pool else []
        self._run(["migrate", "-S", str(size), "-c", str(count), *chosen], path, None)

    def instance(self, mount: Path) -> str:
        """The client instance of a mount, as it stands in sysfs names."""
        return self._run(["getname", "-i"], mount).stdout.strip()

    def pools(self, directory: Path) -> list[str]:
        """The pools of the file system that holds `directory`, without its name."""
        lines = self._run(["pool_list"], directory).stdout.splitlines()
        return [line.strip().partition(".")[2] for line in lines if "." in line.split(":")[0]]

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
