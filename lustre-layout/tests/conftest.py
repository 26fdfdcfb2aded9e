"""Lets the tests of this room import `layout_samples` (importlib mode adds no directory)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
