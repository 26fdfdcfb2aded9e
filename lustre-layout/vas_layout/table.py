"""Renders a layout as rows of a table. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from vas_core.sizes import format_size
from vas_layout.model import (
    ALL_OSTS,
    COMPONENT_FLAG_NAMES,
    EXTENSION,
    EXTENSION_UNIT_BYTES,
    PATTERN_NAMES,
    Composite,
    Foreign,
    Layout,
    Plain,
    names_of,
)

_MAX_OSTS_SHOWN = 16


def layout_rows(name: str, layout: Layout) -> Iterator[tuple[str, ...]]:
    """Yields one row per component: name, extent, stripes, size, OSTs, pool, pattern, flags."""
    if not isinstance(layout, Composite):
        yield (name, "all", *_cells(layout), "")
        return
    for component in layout.components:
        end = component.extent_end
        extent = f"{component.extent_start}..{'EOF' if end is None else end}"
        mirror = f"mirror {component.mirror_id}, " if layout.mirror_count > 1 else ""
        flags = ",".join(names_of(component.flags, COMPONENT_FLAG_NAMES)) or "not instantiated"
        unit = EXTENSION_UNIT_BYTES if component.flags & EXTENSION else 1
        yield (name, extent, *_cells(component.layout, unit), mirror + flags)


def _cells(layout: Plain | Foreign, unit_bytes: int = 1) -> tuple[str, ...]:
    if isinstance(layout, Foreign):
        return "-", "-", "-", "-", f"foreign {layout.foreign_type:#x}"
    count = "all" if layout.stripe_count == ALL_OSTS else str(layout.stripe_count)
    pattern = ",".join(names_of(layout.pattern, PATTERN_NAMES))
    size = format_size(layout.stripe_size * unit_bytes)
    return count, size, _osts(layout), layout.pool or "-", pattern


def _osts(layout: Plain) -> str:
    indices = [str(o.ost_idx) for o in layout.objects]
    more = f",... ({len(indices)})" if len(indices) > _MAX_OSTS_SHOWN else ""
    return ",".join(indices[:_MAX_OSTS_SHOWN]) + more or "-"
