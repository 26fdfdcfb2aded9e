"""The command `vas a2av explain`."""

from __future__ import annotations

import click

from vas_a2av.model import Network, Prediction, predict
from vas_core.cli import SizeType, json_option, print_json
from vas_core.table import print_table

_WITHOUT_RADIX = ("linear", "pairwise", "sloav", "two-phase")
_WITH_RADIX = ("tuna", "sloav2")


@click.command()
@click.option("--ranks", type=click.IntRange(2, 1 << 20), required=True, help="Number of ranks.")
@click.option("--size", type=SizeType(), required=True, help="Mean size of a block.")
@click.option("--overhead", type=click.FloatRange(0), default=0.7, show_default=True,
              help="Microseconds of a message at each end.")  # fmt: skip
@click.option("--latency", type=click.FloatRange(0), default=0.5, show_default=True,
              help="Microseconds from end to end.")  # fmt: skip
@click.option("--bandwidth", type=SizeType(1), default="5G", show_default=True,
              help="Bytes per second.")  # fmt: skip
@json_option
def explain(
    ranks: int, size: int, overhead: float, latency: float, bandwidth: int, as_json: bool
) -> None:
    """Predict the cost of each algorithm, by a model.

    The first line is the cheapest; STARTUP is what remains of its time when blocks are empty. The
    network's figures are the simulated torus's unless you give others: nothing is measured.

    \b
    Example: vas a2av explain --ranks 1024 --size 8
    """
    network = Network(overhead * 1e-6, latency * 1e-6, bandwidth)
    found = sorted(candidates(ranks, size), key=lambda each: each.seconds(network))
    if as_json:
        print_json([_as_json(each, network) for each in found])
        return
    header = ("ALGORITHM", "RADIX", "PREDICTED US", "STARTUP US", "MESSAGES", "SENT B")
    print_table(header, [_row(each, network) for each in found])


def candidates(ranks: int, size: int) -> list[Prediction]:
    """Returns a prediction for each algorithm, and for each power of two as a radix."""
    radices = [1 << power for power in range(1, 7) if 1 << power <= max(ranks, 2)]
    fixed = [predict(name, 2, ranks, size) for name in _WITHOUT_RADIX]
    return fixed + [predict(name, radix, ranks, size) for name in _WITH_RADIX for radix in radices]


def _as_json(found: Prediction, network: Network) -> dict[str, object]:
    return {
        "algorithm": found.algorithm,
        "radix": found.radix,
        "predicted_seconds": found.seconds(network),
        "startup_seconds": found.startup_seconds(network),
        "messages": found.messages,
        "sent_bytes": found.sent_bytes,
    }


def _row(found: Prediction, network: Network) -> tuple[str, ...]:
    radix = str(found.radix) if found.algorithm in _WITH_RADIX else "-"
    times = (found.seconds(network) * 1e6, found.startup_seconds(network) * 1e6)
    return (
        found.algorithm,
        radix,
        *(f"{microseconds:.1f}" for microseconds in times),
        str(found.messages),
        f"{found.sent_bytes:.0f}",
    )
