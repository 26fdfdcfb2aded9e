"""Ansible's modules as Python modules: they are files that no package holds."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

PLUGINS = Path(__file__).parents[1] / "plugins"
SHARED = "ansible_collections.vas.site.plugins.module_utils"


def load(path: str) -> ModuleType:
    """A file below `plugins`, imported; a module finds what it shares as on a node."""
    for shared in (PLUGINS / "module_utils").glob("*.py") if path.startswith("modules/") else ():
        if f"{SHARED}.{shared.stem}" not in sys.modules:
            sys.modules[f"{SHARED}.{shared.stem}"] = load(f"module_utils/{shared.name}")
    file = PLUGINS / path
    spec = importlib.util.spec_from_file_location(f"ansible_{file.stem}", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
