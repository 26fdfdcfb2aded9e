"""Converts a layout to JSON, which the Java decoder must produce in the same form."""

from __future__ import annotations

from typing import Any

from vas_layout.model import (
    COMPONENT_FLAG_NAMES,
    PATTERN_NAMES,
    Component,
    Composite,
    Foreign,
    Layout,
    Plain,
    names_of,
)


def layout_json(layout: Layout) -> dict[str, Any]:
    """Returns the layout as JSON, with the keys of `lfs getstripe -y` without their prefixes.

    Sizes and offsets are in bytes, except `stripe_size` of an extension component, in KiB.
    """
    match layout:
        case Plain():
            return _plain(layout)
        case Foreign():
            return {
                "type": "foreign",
                "foreign_type": layout.foreign_type,
                "flags": layout.flags,
                "value_hex": layout.value.hex(),
            }
        case Composite():
            return {
                "type": "composite",
                "layout_gen": layout.layout_gen,
                "flags": layout.flags,
                "mirror_count": layout.mirror_count,
                "components": [_component(component) for component in layout.components],
            }


def _plain(layout: Plain) -> dict[str, Any]:
    return {
        "type": "plain",
        "magic": layout.magic.value,
        "pattern": names_of(layout.pattern, PATTERN_NAMES),
        "stripe_size": layout.stripe_size,
        "stripe_count": layout.stripe_count,
        "stripe_offset": layout.stripe_offset,
        "layout_gen": layout.layout_gen,
        "pool": layout.pool,
        "objects": [{"ost_idx": o.ost_idx, "fid": str(o.fid)} for o in layout.objects],
    }


def _component(component: Component) -> dict[str, Any]:
    return {
        "id": component.id,
        "mirror_id": component.mirror_id,
        "flags": names_of(component.flags, COMPONENT_FLAG_NAMES),
        "extent_start": component.extent_start,
        "extent_end": component.extent_end,
        "layout": layout_json(component.layout),
    }
