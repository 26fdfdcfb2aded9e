"""Makes `modules` and `machines` importable from this room's tests; loads Ansible's plugins."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def ansible_plugins() -> None:
    """Finds filters and lookups by name; Ansible's programs do that once, at their start."""
    from ansible.plugins.loader import init_plugin_loader

    init_plugin_loader([str(Path(__file__).parents[2] / "collections")])
