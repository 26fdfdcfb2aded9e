"""The command `vas a2av explain`."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import click

from vas_a2av.building import MPIS
from vas_a2av.model import WORTH, Network, PredictedCall, Prediction, candidates, chosen
from vas_a2av.network_file import comment_of, network_path, read_network
from vas_core.cli import SizeType, json_option, print_json
from vas_core.options import shared
from vas_core.table import print_table

_WITH_RADIX = ("tuna", "sloav2", "sloav2x")
_FEWEST_RANKS = 8  # mpi/settings.c
_ASSUMED = "the simulated torus's figures"


def _call(ranks: int, per_node: int, size: int) -> PredictedCall:
    return PredictedCall(ranks, min(per_node, ranks), size)


def _network(
    network: Path | None, overhead: float | None, latency: float | None, bandwidth: int | None
) -> tuple[Network, str, str]:
    """Returns the figures to predict with, where they are, and what the file says of them."""
    measured = [network_path(name) for name in sorted(MPIS)]
    path = network or next((each for each in measured if each.is_file()), None)
    found = read_network(path) if path else Network()
    comment = comment_of(path) if path else ""
    if overhead is not None:
        found = replace(found, overhead_seconds=overhead * 1e-6)
    if latency is not None:
        found = replace(found, latency_seconds=latency * 1e-6)
    if bandwidth is not None:
        found = replace(found, bytes_per_second=float(bandwidth))
    return found, str(path or _ASSUMED), comment


_file = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@shared(
    "case",
    _call,
    click.option(
        "--ranks", type=click.IntRange(2, 1 << 20), required=True, help="Number of ranks."
    ),
    click.option(
        "--per-node", type=click.IntRange(1), default=1, show_default=True, help="Ranks on a node."
    ),
    click.option("--size", type=SizeType(), required=True, help="Mean size of a block."),
)
@shared(
    "figures",
    _network,
    click.option(
        "--network", type=_file, help="File that `vas a2av tune` wrote; default: this user's."
    ),
    click.option(
        "--overhead",
        type=click.FloatRange(0),
        help="Overhead at each end of a message, in microseconds.",
    ),
    click.option(
        "--latency", type=click.FloatRange(0), help="Latency from node to node, in microseconds."
    ),
    click.option("--bandwidth", type=SizeType(1), help="Bytes per second of a node's link."),
)
@json_option
def explain(case: PredictedCall, figures: tuple[Network, str, str], as_json: bool) -> None:
    """Predict the cost of each algorithm, by a model.

    The first line is the cheapest algorithm. STARTUP is the part of its time that does not depend
    on the size of blocks. The figures are those that `vas a2av tune` measured, or the simulated
    torus's.

    \b
    Example: vas a2av explain --ranks 1024 --per-node 16 --size 8
    """
    network, source, comment = figures
    found = sorted(candidates(case), key=lambda each: each.seconds(network))
    passed = passes(case.ranks)
    best = None if passed else chosen(found, network)
    if as_json:
        predicted = [_as_json(each, network) for each in found]
        choice = _as_json(best, network) if best else None
        said = {"figures": source, "comment": comment, "candidates": predicted, "chosen": choice}
        print_json(said)
        return
    header = ("ALGORITHM", "RADIX", "LEADERS", "PREDICTED US", "STARTUP US", "MESSAGES", "SENT B")
    print_table(header, [_row(each, network) for each in found])
    measured = f"{source} ({comment})" if comment else source
    click.echo(f"\nfigures: {measured}\n{passed or reason(found, best, network)}")


def passes(ranks: int) -> str:
    """Returns why the library passes all calls of so many ranks to MPI's own; empty if not."""
    fewest = os.environ.get("VAS_A2AV_MIN_RANKS", "")
    least = int(fewest) if fewest.isdecimal() else _FEWEST_RANKS
    if ranks >= least:
        return ""
    return f"chosen: MPI's own function: fewer ranks than VAS_A2AV_MIN_RANKS ({least})"


def reason(found: list[Prediction], best: Prediction | None, network: Network) -> str:
    """Returns a sentence that tells what the library chooses among candidates, and why."""
    own = next(each for each in found if each.algorithm == "linear")
    limit = own.seconds(network) * WORTH * 1e6
    if best is None:
        least = min(
            (each for each in found if each.algorithm in ("sloav2", "sloav2x")),
            key=lambda each: each.seconds(network),
        )
        return (
            f"chosen: MPI's own function: {least.algorithm} is predicted to need "
            f"{least.seconds(network) * 1e6:.1f} us, not below {WORTH:.0%} of what a message for "
            f"each block needs ({limit:.1f} us)"
        )
    words = [best.algorithm, f"radix {best.radix}"]
    words += [f"{best.leaders} leaders a node"] if best.algorithm == "sloav2x" else []
    starting = f"{best.startup_seconds(network) * 1e6:.1f} instead of "
    starting += f"{own.startup_seconds(network) * 1e6:.1f} us"
    sending = f"{_bytes_us(best, network):.1f} instead of {_bytes_us(own, network):.1f} us"
    return (
        f"chosen: {', '.join(words)}: {best.messages} messages instead of {own.messages}; "
        f"start-ups {starting}, bytes {sending}"
    )


def _bytes_us(each: Prediction, network: Network) -> float:
    return (each.seconds(network) - each.startup_seconds(network)) * 1e6


def _as_json(found: Prediction, network: Network) -> dict[str, object]:
    return {
        "algorithm": found.algorithm,
        "radix": found.radix,
        "leaders": found.leaders,
        "predicted_seconds": found.seconds(network),
        "startup_seconds": found.startup_seconds(network),
        "messages": found.messages,
        "sent_bytes": found.sent_bytes,
    }


def _row(found: Prediction, network: Network) -> tuple[str, ...]:
    radix = str(found.radix) if found.algorithm in _WITH_RADIX else "-"
    leaders = str(found.leaders) if found.algorithm == "sloav2x" else "-"
    times = (found.seconds(network) * 1e6, found.startup_seconds(network) * 1e6)
    return (
        found.algorithm,
        radix,
        leaders,
        *(f"{microseconds:.1f}" for microseconds in times),
        str(found.messages),
        f"{found.sent_bytes:.0f}",
    )
