"""Watches the files of Spark's map output: on the nodes' disks, and on Lustre."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from vas_bench.fetch.processes import Repeated

_PERIOD_SECONDS = 0.5
# `shuffle_0_12_0.data` below an executor's blockmgr-*; `shuffle_0/map_12.data` on Lustre.
_ON_DISK = "nodes/*/local/usercache/*/appcache/*/blockmgr-*/*/shuffle_*"
_ON_LUSTRE = "yarn/staging/*/.staging/*/shuffle/*/shuffle_*/map_*"
_APPLICATION = r"(?:application|job)_(\d+_\d+)/.*"
# Files that are not whole yet have other endings.
_ENDING = r"\.(?:data|index|checksum\.\w+)$"
_NAME = re.compile(_APPLICATION + r"shuffle_(\d+)(?:_|/map_)(\d+)(?:_0)?" + _ENDING)


class MapFilesWatch:
    """Looks for map output's files twice a second, from now until `stop`."""

    def __init__(self, state: Path, lustre: Path) -> None:
        self._places = ((state, _ON_DISK), (lustre, _ON_LUSTRE))
        self._seen: set[str] = set()
        self._repeated = Repeated(self._look, _PERIOD_SECONDS)

    def stop(self) -> None:
        """Ends the watch, after a last look."""
        self._repeated.stop()

    def most_files(self, application: str) -> int:
        """Returns the most files that one map task of an application has had; 0 if none."""
        return files_per_map(self._seen, application)

    def _look(self) -> None:
        for top, pattern in self._places:
            # A directory may go meanwhile: what is in another one is seen the next time.
            with suppress(FileNotFoundError):
                self._seen.update(path.relative_to(top).as_posix() for path in top.glob(pattern))


def files_per_map(paths: Iterable[str], application: str) -> int:
    """Returns the most files of one map task's attempt among paths of an application.

    An earlier application's may be there too, as YARN removes them after its end. A name that a
    file has only until it is whole does not count, and one in two directories counts once: that of
    an application gets another name before it is removed. 0 if there is no file.
    """
    number = application.partition("_")[2]
    found = {
        (*match.group(2, 3), path.rpartition("/")[2])
        for path in paths
        if (match := _NAME.search(path)) and match[1] == number
    }
    maps = Counter((shuffle, task) for shuffle, task, _ in found)
    return max(maps.values(), default=0)
