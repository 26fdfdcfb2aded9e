"""Lets the tests of this room import `layout_samples` (importlib mode adds no directory)."""

import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# A busy machine is no failure: what must be fast is tested by counting or with a wide bound.
settings.register_profile("layout", deadline=None)
settings.load_profile("layout")


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory nobody may read; root too, whom a mode would not keep out."""
    path, scandir = tmp_path / "closed", os.scandir
    path.mkdir()

    def refusing(directory: Any) -> Any:
        if Path(directory) == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(directory)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refusing)
        yield path
