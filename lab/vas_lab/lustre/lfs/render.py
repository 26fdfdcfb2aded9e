"""Makes the text of `lfs getstripe` for one layout. Pure, from the layout's JSON form.

Every space is lfs' own; the captured transcripts in lab/tests/transcripts hold it to that.
"""

from __future__ import annotations

from typing import Any

from vas_lab.lustre.lfs.view import Show, TextLines, View
from vas_layout.codec import COMPOSITE_MAGIC, FOREIGN_MAGIC, PLAIN_MAGICS
from vas_layout.lfs_text import PATTERN_WORDS
from vas_layout.model import Magic

_HEADER_BYTES = {"v1": 32, "v3": 48}
_FLR_STATES = ("0", "ro", "wp", "sp")

Layout = dict[str, Any]


def file_text(path: str, layout: Layout, fid: str, view: View) -> str:
    """Returns the text of `lfs getstripe` for a regular file. `fid` has no brackets."""
    out = TextLines()
    if layout["type"] == "foreign":
        _foreign(out, layout, view)
        return out.text()
    if view.header and not view.yaml:
        out.add(path)
    if layout["type"] == "composite":
        _composite(out, layout, fid, view, _file_body)
    else:
        if Show.COMPONENT_COUNT in view.show:
            out.add("0" if view.lone else f"{'lcm_entry_count:':19}0")
        _file_body(out, layout, fid, view, "")
        if not view.yaml:
            out.add()
    return out.text()


def directory_text(path: str, layout: Layout, fid: str, view: View, *, is_own: bool) -> str:
    """Returns the text of `lfs getstripe` for a directory.

    `is_own` is false if the layout is inherited, as the directory has no default of its own.
    """
    out = TextLines()
    if view.header and not view.yaml and view.show != Show.OBJECTS:
        out.add(path if is_own or Show.DETAIL not in view.show else f"(Default) {path}")
    if layout["type"] == "composite":
        _composite(out, layout, fid, view, _directory_body)
    else:
        _directory_body(out, layout, fid, view, "")
        if not view.yaml:
            out.add()
    return out.text()


def _foreign(out: TextLines, layout: Layout, view: View) -> None:
    value = bytes.fromhex(layout["value_hex"]).decode(errors="surrogateescape")
    if Show.DETAIL in view.show:
        kind = "none" if layout["foreign_type"] == 0 else "unknown"
        out.add(f"lfm_magic:         0x{FOREIGN_MAGIC:08X}")
        out.add(f"lfm_length:          {len(layout['value_hex']) // 2}")
        out.add(f"lfm_type:          0x{layout['foreign_type']:08X} ({kind})")
        out.add(f"lfm_flags:          0x{layout['flags']:08X}")
    out.add(f"lfm_value:     '{value}'")
    out.add()


def pattern_text(names: list[str]) -> str:
    """Returns a pattern as lfs writes it, like `raid0,overstriped`."""
    return ",".join(PATTERN_WORDS.get(name, name) for name in names)


def _attributes(layout: Layout, view: View, first: int | None) -> list[tuple[Show, str, str]]:
    on_mdt = "mdt" in layout["pattern"]
    offset = -1 if first is None else first
    # The MDT's index is kept where other layouts keep their generation.
    generation = first or 0 if on_mdt else layout["layout_gen"]
    fields = [
        (Show.COUNT, "stripe_count:", str(layout["stripe_count"])),
        (Show.SIZE, "stripe_size:", str(layout["stripe_size"])),
        (Show.PATTERN, "pattern:", pattern_text(layout["pattern"])),
        (Show.GENERATION, "layout_gen:", str(generation)),
        (Show.OFFSET, "mdt_index:" if on_mdt else "stripe_offset:", view.index(offset)),
        (Show.POOL, "pool:", layout["pool"] or ""),
    ]
    return [
        item for item in fields if item[0] in view.show and (item[0] != Show.POOL or layout["pool"])
    ]


def _file_body(out: TextLines, layout: Layout, fid: str, view: View, indent: str) -> None:
    if Show.DETAIL in view.show:
        sequence, object_id = fid.split(":")[:2]
        out.add(f"{indent}{'lmm_magic:':19}0x{PLAIN_MAGICS[Magic(layout['magic'])]:08X}")
        out.add(f"{indent}{'lmm_seq:':19}{sequence}")
        out.add(f"{indent}{'lmm_object_id:':19}{object_id}")
    if Show.FID in view.show:
        out.add(f"[{fid}]" if view.lone else f"{indent}{'lmm_fid:':19}[{fid}]")
    first = layout["stripe_offset"]
    if "mdt" in layout["pattern"]:
        first = first or 0
    elif not layout["objects"]:
        first = None
    for _, name, value in _attributes(layout, view, first):
        out.add(value if view.lone else f"{indent}{f'lmm_{name}':19}{value}")
    if Show.OBJECTS in view.show:
        _objects(out, layout, view, indent)


def _objects(out: TextLines, layout: Layout, view: View, indent: str) -> None:
    chosen = [
        (number, item)
        for number, item in enumerate(layout["objects"])
        if view.ost in (None, item["ost_idx"])
    ]
    if not chosen or "released" in layout["pattern"]:
        return
    if view.yaml:
        out.add(f"{indent}lmm_objects:")
        for _, item in chosen:
            out.add(f"      - l_ost_idx: {view.index(item['ost_idx'])}")
            out.add(f"        l_fid:     {item['fid']}")
    elif indent:
        out.add(f"{indent}lmm_objects:")
        width = 5 if view.hex_index else 3
        for number, item in chosen:
            index = view.index(item["ost_idx"]).rjust(width)
            out.add(f"      - {number:3}: {{ l_ost_idx: {index}, l_fid: [{item['fid']}] }}")
    else:
        _table(out, chosen, view)


def _table(out: TextLines, chosen: list[tuple[int, Any]], view: View) -> None:
    out.add("\tobdidx\t\t objid\t\t objid\t\t group")
    mark = "" if view.ost is None else " *"
    for _, item in chosen:
        sequence, object_id = (int(part, 16) for part in item["fid"].split(":")[:2])
        index = view.index(item["ost_idx"])
        # C's %#x prints a plain 0 for zero.
        oid, group = (f"{n:#x}" if n else "0" for n in (object_id, sequence))
        out.add(f"\t{index:>6}\t{object_id:14}\t{oid:>13}\t{group:>14}{mark}")


def _directory_body(out: TextLines, layout: Layout, fid: str, view: View, indent: str) -> None:
    if Show.FID in view.show:
        out.add(f"[{fid}]" if view.lone else f"{indent}{'lmm_fid:':19}[{fid}]")
    narrowed = View(view.show & ~Show.GENERATION, hex_index=view.hex_index)
    first = None if "mdt" in layout["pattern"] else layout["stripe_offset"]
    fields = _attributes(layout, narrowed, first)
    if view.lone:
        words = [value for _, _, value in fields]
    else:
        words = [f"{indent}{name:15}{value}" for _, name, value in fields]
    if view.yaml:
        for word in words:
            out.add(word)
    elif words:
        out.add(" ".join(words))


# ---- composite layouts ----


def _composite(out: TextLines, layout: Layout, fid: str, view: View, body: Any) -> None:
    is_directory = body is _directory_body
    if Show.COMPONENTS in view.show:
        _all_components(out, layout, fid, view, body)
        return
    if Show.GENERATION in view.show and not is_directory:
        generation = str(layout["layout_gen"])
        out.add(generation if view.lone else f"  {'lcm_layout_gen:':19}{generation}")
    if Show.COMPONENT_COUNT in view.show:
        count = str(len(layout["components"]))
        out.add(count if view.lone else f"  {'lcm_entry_count:':19}{count}")
    component = shown_component(layout, is_directory=is_directory)
    body(out, component["layout"], fid, view, "      ")
    if not view.yaml:
        out.add()


def shown_component(layout: Layout, *, is_directory: bool) -> Layout:
    """Returns the component of which lfs prints single attributes: the last instantiated one."""
    components: list[Layout] = layout["components"]
    ready = [item for item in components if is_directory or "init" in item["flags"]]
    return (ready or components)[-1]


def _all_components(out: TextLines, layout: Layout, fid: str, view: View, body: Any) -> None:
    detail = Show.DETAIL in view.show
    is_directory = body is _directory_body
    shift = "" if view.yaml and not detail else "  "
    sizes = [_entry_bytes(item, is_directory=is_directory) for item in layout["components"]]
    offset = 32 + 48 * len(sizes)
    if detail:
        out.add("composite_header:")
        out.add(f"  {'lcm_magic:':19}0x{COMPOSITE_MAGIC:08X}")
        out.add(f"  {'lcm_size:':19}{offset + sum(sizes)}")
        state = "" if is_directory else _FLR_STATES[layout["flags"] & 3]
        out.add(f"  {'lcm_flags:':19}{state}")
    out.add(f"{shift}{'lcm_layout_gen:':19}{layout['layout_gen']}")
    out.add(f"{shift}{'lcm_mirror_count:':19}{layout['mirror_count']}")
    out.add(f"{shift}{'lcm_entry_count:':19}{len(sizes)}")
    if detail or view.yaml:
        out.add("components:")
    for component, size in zip(layout["components"], sizes, strict=True):
        if view.ost is None or _lies_on(component["layout"], view.ost):
            _component(out, component, fid, view, body, offset, size)
        offset += size


def _component(
    out: TextLines, component: Layout, fid: str, view: View, body: Any, offset: int, size: int
) -> None:
    structured = view.yaml or Show.DETAIL in view.show
    end = "EOF" if component["extent_end"] is None else str(component["extent_end"])
    unnumbered = component["id"] == 0
    fields = [
        ("lcme_id:", "N/A" if unnumbered else str(component["id"])),
        ("lcme_mirror_id:", "N/A" if unnumbered else str(component["mirror_id"])),
        ("lcme_flags:", ",".join(component["flags"]) or "0"),
        ("lcme_extent.e_start:", str(component["extent_start"])),
        ("lcme_extent.e_end:", end),
    ]
    if Show.DETAIL in view.show:
        fields += [("lcme_offset:", str(offset)), ("lcme_size:", str(size))]
    for number, (name, value) in enumerate(fields):
        out.add(f"{'  - ' if structured and number == 0 else '    '}{name:21}{value}")
    if structured:
        out.add("    sub_layout:")
    body(out, component["layout"], fid, view, "      ")
    if not view.yaml:
        out.add()


def _entry_bytes(component: Layout, *, is_directory: bool) -> int:
    """The component's size as the client's ioctl reports it.

    A component without objects counts as one object, except DoM ones and directory defaults.
    """
    layout = component["layout"]
    if layout["type"] == "foreign":
        return 16 + len(layout["value_hex"]) // 2
    objects = len(layout["objects"])
    if not objects and not is_directory and "mdt" not in layout["pattern"]:
        objects = 1
    return _HEADER_BYTES[layout["magic"]] + 24 * objects


def _lies_on(layout: Layout, ost: int) -> bool:
    return any(item["ost_idx"] == ost for item in layout.get("objects", ()))
