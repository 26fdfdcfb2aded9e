"""Prints the map of a host on a terminal: with letters, and with colours if it has them."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from vas_affinity.machine.snapshot import DeviceKind
from vas_affinity.pictures.boxes import Box, boxes_of
from vas_affinity.pictures.cells import Cell, HostMap
from vas_affinity.pictures.map_svg import ROLE_COLOURS
from vas_affinity.placement import CpuRole

_LETTERS = {
    CpuRole.STORAGE_IRQ: "S",
    CpuRole.OSS: "O",
    CpuRole.VCPU: "V",
    CpuRole.EMULATOR: "E",
    CpuRole.IOTHREAD: "I",
    CpuRole.IDLE: "x",
    CpuRole.HOST: "h",
}
_SIGNS = {DeviceKind.STORAGE: "^", DeviceKind.NETWORK: "~"}


def print_map(host: HostMap, console: Console) -> None:
    """Prints the map on a console."""
    console.print(Text(host.title, style="bold"))
    console.print(_legend(host))
    for package in boxes_of(host).children:
        lines = list(_lines(host, package))
        console.print(Panel(Group(*lines), title=package.label, title_align="left", expand=False))


def _lines(host: HostMap, box: Box) -> Iterator[RenderableType]:
    """Yields a line for each group of cores, under the names of the groups around it."""
    cores = [child for child in box.children if not child.framed]
    if cores:
        line = Text(overflow="fold")
        for core in cores:
            for child in core.children:
                assert child.cpu is not None
                line.append_text(_cell(host.cells[child.cpu]))
            line.append(" ")
        yield line
    for child in box.children:
        if child.framed:
            if child.label:
                yield Text(child.label, style="dim")
            yield from _lines(host, child)


def _cell(cell: Cell) -> Text:
    signs = "".join(sign for kind, sign in _SIGNS.items() if kind in cell.interrupts)
    letter = _LETTERS[cell.role] if cell.role else ""
    mark = f":{cell.mark}" if cell.mark else ""
    text = f"{cell.cpu.number}{letter}{signs}{mark}"
    if not cell.cpu.online:
        return Text(f"[{text} off]", style="dim")
    fill, ink = ROLE_COLOURS[cell.role] if cell.role else ("", "")
    return Text(f"[{text}]", style=f"{ink} on {fill}" if fill else "")


def _legend(host: HostMap) -> Text:
    legend = Text()
    for role in host.roles():
        fill, ink = ROLE_COLOURS[role]
        legend.append(f" {_LETTERS[role]} ", style=f"{ink} on {fill}")
        legend.append(f" {role.value}  ")
    seen = {kind for cell in host.cells.values() for kind in cell.interrupts}
    for kind, sign in _SIGNS.items():
        if kind in seen:
            legend.append(f"{sign} {kind.value} interrupt  ")
    for name, letter in host.guests.items():
        legend.append(f"{letter} {name}  ")
    return legend
