"""Keeps a library's own prints off stdout."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_STDOUT, _STDERR = 1, 2


@contextmanager
def stdout_is_stderr() -> Iterator[None]:
    """Sends what is printed in C meanwhile to stderr.

    HiGHS (in SciPy 1.17) prints a line of its own, whatever its options say; stdout may be a
    command's JSON.
    """
    sys.stdout.flush()
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)  # what C still holds would go to the real stdout
        os.dup2(kept, _STDOUT)
        os.close(kept)
