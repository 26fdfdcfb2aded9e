"""Lets the tests of this room import `layout_samples` (importlib mode adds no directory)."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# A busy machine is no failure: what must be fast is tested by counting or with a wide bound.
settings.register_profile("layout", deadline=None)
settings.load_profile("layout")
