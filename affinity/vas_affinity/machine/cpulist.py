"""Parses and formats lists of CPUs as the kernel, libvirt and taskset write them: `0-3,8`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from vas_core.errors import BadInput

_MOST_CPUS = 65536


def parse_cpulist(text: str) -> tuple[int, ...]:
    """Returns the CPUs of a list, ascending; `0-6:2/4` is the first two of each four of a range.

    Raises BadInput if it is not a list of CPUs.
    """
    cpus: set[int] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        cpus.update(_range(part))
    return tuple(sorted(cpus))


def cpus_asked(text: str, *, where: str) -> tuple[int, ...]:
    """Returns the CPUs of an option's list, at least one.

    Raises BadInput that names the option for an empty or wrong list.
    """
    try:
        cpus = parse_cpulist(text)
    except BadInput as wrong:
        raise BadInput(wrong.what, where=where, hint=wrong.hint) from None
    if not cpus:
        raise BadInput("has no CPU in it", where=where, hint="like 0-3,8")
    return cpus


def format_cpulist(cpus: Iterable[int]) -> str:
    """Returns the shortest list of these CPUs; empty for none."""
    ordered = sorted(set(cpus))
    runs = [
        [cpu for _, cpu in run]
        for _, run in groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0])
    ]
    return ",".join(f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def parse_cpumask(text: str) -> tuple[int, ...]:
    """Returns the CPUs of a mask like that of `/proc/irq/*/smp_affinity`: `00000000,000000ff`.

    Raises BadInput if it is not a mask.
    """
    try:
        bits = int(text.strip().replace(",", "").removeprefix("0x"), 16)
    except ValueError as wrong:
        raise BadInput(f"is not a CPU mask: {text!r}") from wrong
    return tuple(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def _range(part: str) -> Iterable[int]:
    span, _, stride = part.partition(":")
    first, dash, last = span.partition("-")
    used, _, group = stride.partition("/")
    numbers = (first, last if dash else first, used or "1", group or "1")
    if not all(number.isascii() and number.isdecimal() for number in numbers):
        raise BadInput(f"is not a CPU list: {part!r}", hint="like 0-3,8")
    low, high, take, of = map(int, numbers)
    if low > high or high >= _MOST_CPUS or take > of or of == 0:
        raise BadInput(f"is not a range of CPUs: {part!r}", hint="like 0-3,8")
    return (cpu for cpu in range(low, high + 1) if (cpu - low) % of < take)
