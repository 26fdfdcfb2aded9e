"""Lists of CPUs as the kernel, libvirt and taskset write them: `0-3,8`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from vas_core.errors import BadInput

_MOST_CPUS = 65536


def parse_cpulist(text: str) -> tuple[int, ...]:
    """The CPUs of a list, ascending; `0-6:2/4` is a range's first two of each four.

    Raises BadInput.
    """
    cpus: set[int] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        cpus.update(_range(part))
    return tuple(sorted(cpus))


def cpus_asked(text: str, *, where: str) -> tuple[int, ...]:
    """The CPUs of an option's list, one at least. Raises BadInput that names the option."""
    try:
        cpus = parse_cpulist(text)
    except BadInput as wrong:
        raise BadInput(wrong.what, where=where, hint=wrong.hint) from None
    if not cpus:
        raise BadInput("has no CPU in it", where=where, hint="like 0-3,8")
    return cpus


def format_cpulist(cpus: Iterable[int]) -> str:
    """The shortest list of these CPUs, empty for none."""
    ordered = sorted(set(cpus))
    runs = [
        [cpu for _, cpu in run]
        for _, run in groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0])
    ]
    return ",".join(f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def parse_cpumask(text: str) -> tuple[int, ...]:
    """The CPUs of a mask, as `/proc/irq/*/smp_affinity` has it: `00000000,000000ff`.

    Raises BadInput.
    """
    try:
        bits = int(text.strip().replace(",", "").removeprefix("0x"), 16)
    except ValueError as wrong:
        raise BadInput(f"is no CPU mask: {text!r}") from wrong
    return tuple(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def _range(part: str) -> Iterable[int]:
    span, _, stride = part.partition(":")
    first, dash, last = span.partition("-")
    used, _, group = stride.partition("/")
    numbers = (first, last if dash else first, used or "1", group or "1")
    if not all(number.isascii() and number.isdecimal() for number in numbers):
        raise BadInput(f"is no CPU list: {part!r}", hint="like 0-3,8")
    low, high, take, of = map(int, numbers)
    if low > high or high >= _MOST_CPUS or take > of or of == 0:
        raise BadInput(f"is no range of CPUs: {part!r}", hint="like 0-3,8")
    return (cpu for cpu in range(low, high + 1) if (cpu - low) % of < take)
