"""Makes `modules` and `machines` importable from the tests of this room."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
