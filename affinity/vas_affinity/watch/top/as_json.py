"""Makes the JSON that `vas affinity top --json` prints."""

from __future__ import annotations

from vas_affinity.watch.top.rows import ThreadRow


def row_json(row: ThreadRow) -> dict[str, object]:
    """Returns a thread's row as `vas affinity top --json` prints it."""
    near = None if row.from_irq is None else row.from_irq.name.lower()
    return {**vars(row), "from_irq": near}
