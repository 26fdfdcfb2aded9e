"""Draws a recording: a step line per thread, its core over time, like the strings of a guitar."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vas_affinity.watch.record.recording import Recording, String
from vas_affinity.watch.thread_keys import label
from vas_core.shown import counted
from vas_core.svg import PALETTE, Svg, fitted, round_up, text_width

_WIDTH, _LEFT, _RIGHT = 960.0, 62.0, 66.0
_BAND_PIXELS, _LEAST_BAND, _MOST_BAND = 300.0, 3.0, 70.0
_USE_POINTS = 120
_LEGEND_COLUMNS = 3


@dataclass(frozen=True)
class Style:
    """The style of a thread's line: the same key has the same style in both panels."""

    colour: str
    rank: int


@dataclass(frozen=True)
class PanelScale:
    """The scale of a panel: the pixels of a time, of a core's band, and of a CPU use."""

    top: float
    seconds: float
    cores: tuple[int, ...]
    most_use: float

    @property
    def band(self) -> float:
        """Returns the height of a core's band."""
        return min(_MOST_BAND, max(_LEAST_BAND, _BAND_PIXELS / len(self.cores)))

    @property
    def height(self) -> float:
        return self.band * len(self.cores)

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def x(self, time: float) -> float:
        """Returns the x of a time, rounded to half a pixel: finer steps cannot be seen."""
        whole = (_WIDTH - _LEFT - _RIGHT) * time / self.seconds
        return _LEFT + round(whole * 2) / 2

    def y(self, core: int, lane: float) -> float:
        """Returns the y of a lane, which is the place in the core's band from 0 to 1."""
        at = self.cores.index(core) if core in self.cores else 0
        return round(self.bottom - (at + 0.12 + 0.76 * lane) * self.band, 2)

    def y_use(self, use: float) -> float:
        """Returns the y of a CPU use on the right axis."""
        return round(self.bottom - self.height * use / self.most_use, 2)


def draw_strings(panels: Sequence[tuple[str, Recording]]) -> Svg:
    """Draws one panel per recording, with the same scale of time and of cores for all."""
    svg = Svg(_WIDTH)
    styles = _styles(recording for _, recording in panels)
    seconds = max(recording.seconds for _, recording in panels) or 1.0
    cores = tuple(sorted({core for _, recording in panels for core in _cores_of(recording)}))
    most = max(round_up(max(_use(recording)[1], default=0.0)) for _, recording in panels)
    top = 14.0
    for title, recording in panels:
        scale = PanelScale(top + 40, seconds, cores, most)
        _panel(svg, scale, title, recording, styles)
        top = scale.bottom + 42
    svg.height = _legend(svg, top, panels, styles)
    return svg


def caption(recording: Recording) -> str:
    """Returns a panel's caption: migrations per second, threads, and CPU time."""
    source = "kernel's count" if recording.counted else "seen between samples, at least"
    return (
        f"{recording.moves_per_second:.2f} migrations/s ({source}), "
        f"{len(recording.strings)} threads, "
        f"{recording.cpu_seconds:.1f} CPU s in {recording.seconds:.1f} s"
    )


def _panel(
    svg: Svg, scale: PanelScale, title: str, recording: Recording, styles: dict[str, Style]
) -> None:
    svg.text(_LEFT, scale.top - 24, title, size=14, bold=True)
    svg.text(_LEFT, scale.top - 8, caption(recording), size=11, kind="muted")
    _axes(svg, scale, recording)
    lanes = len(styles)
    for string in sorted(recording.strings, key=lambda s: -styles[s.thread.key].rank):
        style = styles[string.thread.key]
        lane = (style.rank + 0.5) / lanes
        _string(svg, scale, recording, string, style, lane)


def _axes(svg: Svg, scale: PanelScale, recording: Recording) -> None:
    right = _WIDTH - _RIGHT
    for at in range(0, len(scale.cores), 2):
        top = scale.bottom - (at + 1) * scale.band
        svg.rect(_LEFT, round(top, 2), right - _LEFT, round(scale.band, 2), "band")
    times, use = _use(recording)
    steps = "".join(
        f"V{scale.y_use(u):g}H{scale.x(end):g}" for u, end in zip(use, times[1:], strict=True)
    )
    if use:
        svg.area(f"M{_LEFT:g} {scale.bottom:g}{steps}V{scale.bottom:g}Z", "use")
    every = math.ceil(13 / scale.band)
    for at, core in enumerate(scale.cores):
        if at % every == 0:
            middle = scale.bottom - (at + 0.5) * scale.band
            svg.text(_LEFT - 8, middle + 4, f"{core}", size=11, anchor="end", kind="muted")
    svg.text(_LEFT - 8, scale.top - 8, "core", size=11, anchor="end", kind="muted")
    for share in (0, 0.5, 1):
        y = scale.y_use(scale.most_use * share)
        svg.text(right + 8, y + 4, f"{100 * scale.most_use * share:.0f} %", size=11, kind="muted")
    svg.text(right + 8, scale.top - 20, "CPU use", size=11, kind="muted")
    _time_axis(svg, scale)


def _time_axis(svg: Svg, scale: PanelScale) -> None:
    step = round_up(scale.seconds / 8)
    ticks = [step * n for n in range(int(scale.seconds / step + 1e-9) + 1)]
    lines = "".join(f"M{scale.x(t):g} {scale.bottom:g}v5" for t in ticks)
    svg.path(f"M{_LEFT:g} {scale.bottom:g}H{_WIDTH - _RIGHT:g}{lines}", "rule", 1)
    for time in ticks:
        svg.text(
            scale.x(time), scale.bottom + 18, f"{time:g}", size=11, anchor="middle", kind="muted"
        )
    svg.text(_WIDTH - _RIGHT + 8, scale.bottom + 18, "s", size=11, kind="muted")


def _string(
    svg: Svg, scale: PanelScale, recording: Recording, string: String, style: Style, lane: float
) -> None:
    ticks = recording.header.ticks_per_second
    about = (
        f"{label(string.thread.key, string.thread.full_name)}\nthread {string.thread.tid}, "
        f"{string.used_ticks / ticks:.2f} CPU s, {counted(len(string.moves), 'move')} seen"
    )
    line = step_line(scale, string, string.ended or recording.seconds, lane)
    busy = busy_line(scale, string, recording.header.interval_seconds, lane)
    with svg.group(about, class_="string", data_key=string.thread.key):
        svg.path(line, style.colour, 1, stroke_opacity=0.55)
        if busy:
            svg.path(busy, style.colour, 2.4)
        svg.path(line, "#000", 9, stroke_opacity=0, pointer_events="stroke")


def step_line(scale: PanelScale, string: String, end: float, lane: float) -> str:
    """Returns the path of a thread: along its core, and up or down where it moved.

    Moves within half a pixel are one. `lane` is the place in a core's band, 0 to 1.
    """
    points: list[tuple[float, float]] = []
    for time, core in zip(string.times, string.cpus, strict=True):
        x, y = scale.x(time), scale.y(core, lane)
        if points and points[-1][0] == x:
            points.pop()
        if not points or points[-1][1] != y:
            points.append((x, y))
    start = f"M{points[0][0]:g} {points[0][1]:g}"
    return start + "".join(f"H{x:g}V{y:g}" for x, y in points[1:]) + f"H{scale.x(end):g}"


def busy_line(scale: PanelScale, string: String, interval: float, lane: float) -> str:
    """Returns the parts of the path in which the thread used CPU time.

    Each part is the interval before a sample in which the thread's clock had advanced.
    """
    parts: list[tuple[float, float, float]] = []
    samples = zip(string.times, string.cpus, string.ticks, strict=True)
    before = None
    for time, core, ticks in samples:
        if before is not None and ticks > before:
            start, end, y = scale.x(max(0.0, time - interval)), scale.x(time), scale.y(core, lane)
            if parts and parts[-1][2] == y and parts[-1][1] >= start - 1:
                start = parts.pop()[0]
            parts.append((start, max(end, start + 0.5), y))
        before = ticks
    return "".join(f"M{start:g} {y:g}H{end:g}" for start, end, y in parts)


def _legend(
    svg: Svg, top: float, panels: Sequence[tuple[str, Recording]], styles: dict[str, Style]
) -> float:
    named = [key for key, style in styles.items() if style.colour != "faint"]
    width = (_WIDTH - _LEFT - 10) / _LEGEND_COLUMNS
    for number, key in enumerate(named):
        row, column = divmod(number, _LEGEND_COLUMNS)
        x, y, style = _LEFT + column * width, top + row * 18, styles[key]
        with svg.group(key, class_="key", data_key=key):
            svg.path(f"M{x:g} {y - 4:g}h22", style.colour, 2.4)
            svg.text(x + 28, y, fitted(key, width - 36, 11), size=11)
    y = top + math.ceil(len(named) / _LEGEND_COLUMNS) * 18
    words = "thick where it used CPU time; grey area: CPU use of all, 100 % is one CPU"
    if rest := len(styles) - len(named):
        words = f"grey lines: {rest} threads that used less; {words}"
    svg.text(_LEFT, y + 2, words, size=11, kind="muted")
    assert text_width(words, 11) < _WIDTH
    return y + 16


def _styles(recordings: Iterable[Recording]) -> dict[str, Style]:
    """Returns key -> style; the busiest threads get colours."""
    used: dict[str, float] = {}
    for recording in recordings:
        for string in recording.strings:
            key = string.thread.key
            share = string.used_ticks / max(recording.seconds, 1e-9)
            used[key] = max(used.get(key, 0.0), share)
    order = sorted(used, key=lambda key: (-used[key], key))
    colours = [*PALETTE, "line", *["faint"] * len(order)]
    return {key: Style(colours[rank], rank) for rank, key in enumerate(order)}


def _cores_of(recording: Recording) -> set[int]:
    """Returns the online CPUs, and those on which a thread was seen."""
    seen = {core for string in recording.strings for core in string.cpus}
    return seen | set(recording.header.topology.online)


def _use(recording: Recording) -> tuple[list[float], list[float]]:
    """Returns times, and the CPU use between each two: coarse enough for the clock's ticks."""
    steps = int(recording.seconds / max(2 * recording.header.interval_seconds, 0.1))
    steps = max(1, min(_USE_POINTS, steps))
    times = [recording.seconds * n / steps for n in range(steps + 1)]
    return (times, recording.use(times)) if recording.seconds else ([], [])
