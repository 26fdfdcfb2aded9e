"""Draws the map of a host as SVG: a square per CPU, in its core, cache, NUMA node and package."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vas_affinity.machine.snapshot import DeviceKind
from vas_affinity.pictures.boxes import CELL_HEIGHT, CELL_WIDTH, LABEL_SIZE, Box, boxes_of
from vas_affinity.pictures.cells import Cell, HostMap
from vas_affinity.placement import CpuRole
from vas_core.svg import Svg, fitted, text_width

_WIDTH, _EDGE = 1000.0, 16.0
_BOLD = 1.1  # wider than plain

# Okabe and Ito's colours with the ink that is read on each; greys for what is not VAS's.
ROLE_COLOURS = {
    CpuRole.STORAGE_IRQ: ("#D55E00", "#000000"),
    CpuRole.OSS: ("#E69F00", "#000000"),
    CpuRole.VCPU: ("#0072B2", "#ffffff"),
    CpuRole.EMULATOR: ("#56B4E9", "#000000"),
    CpuRole.IOTHREAD: ("#009E73", "#000000"),
    CpuRole.IDLE: ("#808890", "#000000"),
    CpuRole.HOST: ("#dde3e9", "#000000"),
}
_INTERRUPTS = {DeviceKind.STORAGE: "storage interrupt", DeviceKind.NETWORK: "network interrupt"}


@dataclass(frozen=True)
class Drawn:
    """How far a map reaches right and down, and the middle of each CPU's square."""

    right: float
    bottom: float
    centres: dict[int, tuple[float, float]]


def draw_map(host: HostMap) -> Svg:
    """Draws the host's map with its legend."""
    svg = Svg(_WIDTH)
    drawn = draw_host(svg, host, host.title, 0.0)
    svg.width, svg.height = drawn.right + _EDGE, drawn.bottom + _EDGE
    return svg


def draw_host(
    svg: Svg,
    host: HostMap,
    title: str,
    y: float,
    under: Callable[[Drawn], None] = lambda _: None,
) -> Drawn:
    """Draws a host's map with its legend below `y`; `under` draws what its squares lie on."""
    svg.text(_EDGE, y + 26, title, size=15, bold=True)
    right, top = _legend(svg, host, y + 46)
    whole = boxes_of(host)
    whole.lay_out(_WIDTH - 2 * _EDGE)
    wide = text_width(title, 15) * _BOLD
    right = max(right, whole.width + _EDGE, wide + _EDGE)
    drawn = Drawn(right, top + whole.height, dict(_centres(whole, _EDGE, top)))
    under(drawn)
    _draw(svg, host, whole, _EDGE, top)
    return drawn


def _centres(box: Box, x: float, y: float) -> Iterator[tuple[int, tuple[float, float]]]:
    if box.cpu is not None:
        yield box.cpu, (x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2)
    for child in box.children:
        yield from _centres(child, x + child.x, y + child.y)


def _draw(svg: Svg, host: HostMap, box: Box, x: float, y: float) -> None:
    if box.cpu is not None:
        _cell(svg, host.cells[box.cpu], x, y)
        return
    if box.framed:
        frame = f"M{x:g} {y:g}h{box.width:g}v{box.height:g}h{-box.width:g}Z"
        svg.path(frame, "rule", 1)
    if box.label:
        label = fitted(box.label, box.width - 12, LABEL_SIZE)
        svg.text(x + 7, y + 16, label, size=LABEL_SIZE, kind="muted")
    for child in box.children:
        _draw(svg, host, child, x + child.x, y + child.y)


def _cell(svg: Svg, cell: Cell, x: float, y: float) -> None:
    number = cell.cpu.number
    fill, ink = ROLE_COLOURS[cell.role] if cell.role else ("band", "ink")
    width, height = CELL_WIDTH - 1, CELL_HEIGHT
    with svg.group("\n".join(cell.about), class_="cell", data_key=f"cpu {number}"):
        svg.rect(x, y, width, height, fill if cell.cpu.online else "none", rx=3)
        if not cell.cpu.online or cell.cpu.isolated:
            frame = f"M{x + 1:g} {y + 1:g}h{width - 2:g}v{height - 2:g}h{2 - width:g}Z"
            dash = {} if cell.cpu.online else {"stroke_dasharray": "3 2"}
            svg.path(frame, "line" if cell.cpu.online else "faint", 1.6, **dash)
        ink = ink if cell.cpu.online else "muted"
        svg.text(x + 5, y + 14, f"{number}", size=11, kind=ink, bold=True)
        if cell.mark:
            mark = fitted(cell.mark, width - 6, 10)
            svg.text(x + 5, y + 28, mark, size=10, kind=ink)
        for place, kind in enumerate(k for k in _INTERRUPTS if k in cell.interrupts):
            _sign(svg, kind, x + width - 8 - 10 * place, y + 9)


def _sign(svg: Svg, kind: DeviceKind, x: float, y: float) -> None:
    """Draws a triangle for storage, a dot for network; a light edge shows them on any role."""
    if kind is DeviceKind.STORAGE:
        svg.area(f"M{x - 5:g} {y + 4:g}h10l-5 -9Z", "#000000", stroke="#ffffff")
    else:
        svg.dot(x, y, 4, "#000000", stroke="#ffffff", fill_opacity=1)


def _legend(svg: Svg, host: HostMap, y: float) -> tuple[float, float]:
    """Draws roles, signs and guests in rows; returns how far they reach right and down."""
    entries: list[tuple[str, CpuRole | DeviceKind | None]]
    entries = [(role.value, role) for role in host.roles()]
    seen = {kind for cell in host.cells.values() for kind in cell.interrupts}
    entries += [(word, kind) for kind, word in _INTERRUPTS.items() if kind in seen]
    entries += [(f"{letter}: {name}", None) for name, letter in host.guests.items()]
    if any(not cell.cpu.online for cell in host.cells.values()):
        entries.append(("dashed: offline", None))
    if any(cell.cpu.isolated for cell in host.cells.values()):
        entries.append(("framed: isolated", None))
    x = right = _EDGE
    for text, sign in entries:
        width = text_width(text, 11) + (20 if sign else 0) + 14
        if x + width > _WIDTH - _EDGE and x > _EDGE:
            x, y = _EDGE, y + 18
        _entry(svg, text, sign, x, y)
        x += width
        right = max(right, x - 14)
    return right, y + 12 if entries else y - 8


def _entry(svg: Svg, text: str, sign: CpuRole | DeviceKind | None, x: float, y: float) -> None:
    if isinstance(sign, CpuRole):
        svg.rect(x, y - 10, 13, 13, ROLE_COLOURS[sign][0], rx=2)
    elif sign:
        _sign(svg, sign, x + 6, y - 4)
    svg.text(x + (20 if sign else 0), y, text, size=11)
