"""The repository holds sources, and nothing that a build made of them."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from vas_core.process import run
from vas_core.repository import REPOSITORY

_MADE = {".class", ".jar", ".pyc", ".o", ".so", ".whl"}


@pytest.mark.machine
@pytest.mark.skipif(not (REPOSITORY / ".git").exists(), reason="not a clone")
def test_S6_no_compiled_file_is_in_the_repository() -> None:
    """Nobody reads one in a review, and a build may take it for its own."""
    listed = run(["git", "-C", REPOSITORY, "ls-files", "-z"]).stdout.split("\0")
    assert [name for name in listed if PurePath(name).suffix in _MADE] == []
