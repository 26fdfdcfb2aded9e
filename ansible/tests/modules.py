"""Ansible's modules as Python modules: they are files that no package holds."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

PLUGINS = Path(__file__).parents[1] / "plugins"


def load(path: str) -> ModuleType:
    """A file below `plugins`, imported."""
    file = PLUGINS / path
    spec = importlib.util.spec_from_file_location(f"ansible_{file.stem}", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
