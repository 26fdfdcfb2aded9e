"""The example in docs/affinity-snapshot.md is a snapshot, with all its keys."""

from __future__ import annotations

import json
from pathlib import Path

from vas_affinity.machine.snapshot import Snapshot

PAGE = (Path(__file__).parents[2] / "docs/affinity-snapshot.md").read_text()


def test_the_example_has_every_key() -> None:
    example = PAGE.partition("```json\n")[2].partition("```")[0]
    data = json.loads(example)
    assert Snapshot.model_validate_json(example).model_dump(mode="json") == data
