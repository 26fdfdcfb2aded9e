"""Runs checks one after the other in a new directory, and removes it at the end."""

from __future__ import annotations

import getpass
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import NoReturn

from vas_accept.outcome import (
    AcceptanceCheck,
    AcceptanceResult,
    AcceptanceStatus,
    DeadlinePassed,
    Deviation,
    NotApplicable,
)
from vas_accept.place import AcceptancePlace
from vas_core.errors import VasError

PREFIX = ".vas-accept-"


@contextmanager
def own_directory(parent: Path) -> Iterator[Path]:
    """Makes a directory in `parent` that only this user can read, for a `with` block.

    Removes it with all in it afterwards, also at an error or SIGTERM. Raises OSError if it cannot
    be made, VasError if it cannot be removed.
    """
    made = Path(tempfile.mkdtemp(dir=parent, prefix=PREFIX))
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield made
    finally:
        signal.signal(signal.SIGTERM, before)
        shutil.rmtree(made, ignore_errors=True)
        if made.exists():
            shutil.rmtree(made, ignore_errors=True)
        if made.exists():
            raise VasError("could not be removed", where=str(made), hint=f"rm -r {made}")


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def run_checks(
    checks: Sequence[AcceptanceCheck],
    place: AcceptancePlace,
    heard: Callable[[AcceptanceResult], None] = lambda _: None,
) -> list[AcceptanceResult]:
    """Runs all checks, even after one fails; returns their results in the same order.

    `heard` gets each result at once.
    """
    results = []
    for check in checks:
        results.append(run_check(check, place))
        heard(results[-1])
        # What a check leaves is room that the next one may need.
        for left in place.directory.iterdir():
            shutil.rmtree(left, ignore_errors=True)
    return results


def run_check(check: AcceptanceCheck, place: AcceptancePlace) -> AcceptanceResult:
    """Runs one check and returns its result; any error is a failure of the check."""
    started = time.monotonic()
    result = AcceptanceResult(
        check=check.name,
        title=check.title,
        user=getpass.getuser(),
        status=AcceptanceStatus.PASSED,
        seen="",
    )
    failed = replace(result, status=AcceptanceStatus.FAILED, meaning=check.meaning, fix=check.fix)
    try:
        place.seconds_left()
        result = replace(result, seen=check.run(place))
    except NotApplicable as why:
        result = replace(result, status=AcceptanceStatus.NOT_APPLICABLE, seen=str(why))
    except DeadlinePassed as late:
        result = replace(result, status=AcceptanceStatus.NOT_FINISHED, seen=str(late))
    except Deviation as found:
        result = replace(
            failed,
            expected=found.expected,
            seen=found.seen,
            meaning=found.meaning or check.meaning,
            fix=found.fix or check.fix,
        )
    except (VasError, OSError) as error:
        result = replace(failed, expected="no error", seen=str(error))
    except Exception as broken:  # a check of ours that is wrong must not end all others
        seen = f"{type(broken).__name__}: {broken}"
        result = replace(failed, expected="no error", seen=seen)
    return replace(result, seconds=round(time.monotonic() - started, 1))
