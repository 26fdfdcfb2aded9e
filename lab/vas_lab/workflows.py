"""Chooses the steps of `vas lab run PROGRAM` without arguments, input included. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

_ROW_BYTES = 100
_PAIR_BYTES = 14
_DFSIO_FILES = 4
_SPLITS = 8
_MIN_SPLIT_BYTES = 1 << 20
_MAX_SPLIT_BYTES = 128 << 20
_CLEAR = 'rm -rf "$1"'


@dataclass(frozen=True, kw_only=True)
class Workflow:
    """Programs to run one after another in `directory`, a path as jobs see it.

    `prepare` is a shell command to run before; $1 is the directory's real path. `copies` is the
    largest number of copies of the data that are on the disk at a time.
    """

    directory: str
    steps: tuple[tuple[str, ...], ...]
    properties: dict[str, str] = field(default_factory=dict)
    prepare: str = _CLEAR
    copies: int = 4


def workflow(program: str, size_bytes: int) -> Workflow | None:
    """Returns the workflow that runs a program on about `size_bytes` of input.

    Returns None for a program that is not one of dfsio, secondarysort, terasort, wordcount.
    """
    make = _WORKFLOWS.get(program)
    return make(f"/lab-run/{program}", size_bytes) if make else None


def _terasort(directory: str, size_bytes: int) -> Workflow:
    source, output = f"{directory}/in", f"{directory}/out"
    steps = (
        ("teragen", str(max(1, size_bytes // _ROW_BYTES)), source),
        ("terasort", source, output),
        ("teravalidate", output, f"{directory}/report"),
    )
    return Workflow(directory=directory, steps=steps, properties=_in_splits(size_bytes))


def _wordcount(directory: str, size_bytes: int) -> Workflow:
    source = f"{directory}/in"
    text = ("-outFormat", "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat")
    amount = {"mapreduce.randomtextwriter.totalbytes": str(size_bytes)}
    return Workflow(
        directory=directory,
        steps=(("randomtextwriter", *text, source), ("wordcount", source, f"{directory}/out")),
        properties=amount | _in_splits(size_bytes),
        copies=2,
    )


def _secondarysort(directory: str, size_bytes: int) -> Workflow:
    numbers = 2 * max(1, size_bytes // _PAIR_BYTES)
    pairs = f'mkdir -p "$1/in"; seq {numbers} | paste -d" " - - >"$1/in/pairs"'
    return Workflow(
        directory=directory,
        steps=(("secondarysort", f"{directory}/in", f"{directory}/out"),),
        prepare=f"{_CLEAR}; {pairs}",
    )


def _dfsio(directory: str, size_bytes: int) -> Workflow:
    amount = ("-nrFiles", str(_DFSIO_FILES), "-size", f"{max(1, size_bytes // _DFSIO_FILES)}B")
    return Workflow(
        directory=directory,
        steps=(("dfsio", "-write", *amount), ("dfsio", "-read", *amount)),
        properties={"test.build.data": directory},
        copies=1,
    )


def _in_splits(size_bytes: int) -> dict[str, str]:
    """The input in several stripes, each one split, so that placement shows."""
    even = size_bytes // _SPLITS // _MIN_SPLIT_BYTES * _MIN_SPLIT_BYTES
    return {"vas.lustre.block-size": str(min(max(_MIN_SPLIT_BYTES, even), _MAX_SPLIT_BYTES))}


_WORKFLOWS: dict[str, Callable[[str, int], Workflow]] = {
    "dfsio": _dfsio,
    "secondarysort": _secondarysort,
    "terasort": _terasort,
    "wordcount": _wordcount,
}
