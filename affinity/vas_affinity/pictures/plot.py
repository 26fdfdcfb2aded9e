"""The command `vas affinity plot`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_affinity.pictures.strings import caption, draw_strings
from vas_affinity.watch.record.recording import Recording, load_recording
from vas_core.cli import note
from vas_core.svg import check_name, write_picture

_file = click.Path(path_type=Path, dir_okay=False)
_existing = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command()
@click.argument("recording", type=_existing)
@click.option("--before", type=_existing, help="Recording to draw above it on the same scale.")
@click.option("--out", type=_file, required=True, help="File of the picture: .svg, .png or .html.")
def plot(recording: Path, before: Path | None, out: Path) -> None:
    """Draw a recording: each thread's core over time.

    Draws a step line for each thread, thick where it used CPU time. The right axis has the CPU use
    of all threads, the caption the migrations per second. The HTML shows details of the thread
    under the pointer.

    \b
    Examples: vas affinity plot job.jsonl --out job.svg
              vas affinity plot after.jsonl --before before.jsonl --out both.html
    """
    check_name(out)
    panels = [(path.stem, load_recording(path)) for path in (before, recording) if path]
    for title, one in panels:
        _warn(title, one)
    write_picture(draw_strings(panels), out, " and ".join(title for title, _ in panels))
    for title, one in panels:
        note(f"{title}: {caption(one)}")


def _warn(title: str, recording: Recording) -> None:
    if recording.end is None:
        note(f"{title}: has no end: the recorder was killed")
