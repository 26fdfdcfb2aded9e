"""Compares our shuffle's counters with stock's: equal, or different as docs/shuffle.md says."""

from __future__ import annotations

from vas_yarn.jobs.job import JobResult

_ALWAYS = (
    "MAP_INPUT_RECORDS",
    "MAP_OUTPUT_RECORDS",
    "SHUFFLED_MAPS",
    "FAILED_SHUFFLE",
    "MERGED_MAP_OUTPUTS",
    "REDUCE_INPUT_GROUPS",
    "REDUCE_OUTPUT_RECORDS",
)
_EMITTED = "MAP_OUTPUT_BYTES"
_OF_ONE_RUN = ("COMBINE_INPUT_RECORDS", "COMBINE_OUTPUT_RECORDS", "REDUCE_INPUT_RECORDS")
# Not where something is compressed: how well it is depends on the order of equal keys, which stock
# leaves to chance.
_OF_BYTES = ("MAP_OUTPUT_MATERIALIZED_BYTES", "REDUCE_SHUFFLE_BYTES")
_SPILLED = "SPILLED_RECORDS"


def assert_counted_alike(stock: JobResult, ours: JobResult, *, same_format: bool) -> None:
    """Asserts that two runs of a job have the counters that docs/shuffle.md promises.

    `same_format`: both write the same format without a codec, so their bytes are compared too.
    """
    _same(stock, ours, (*_ALWAYS, _EMITTED))
    _assert_streamed(ours)
    combined = stock.counter("COMBINE_INPUT_RECORDS") > 0
    left = stock.counter("REDUCE_INPUT_RECORDS" if combined else "MAP_OUTPUT_RECORDS")
    if stock.map_counter(_SPILLED) == left:
        _same(stock, ours, _OF_ONE_RUN + _OF_BYTES if same_format else _OF_ONE_RUN)
        assert ours.map_counter(_SPILLED) == left
    elif combined:
        _combined_runs(stock, ours)
    else:
        _runs(stock, ours, same_format=same_format)


def assert_copied_alike(stock: JobResult, ours: JobResult) -> None:
    """Asserts equal counters for a job whose map side is stock's: only its copy is another."""
    _assert_streamed(ours)
    assert ours.map_counter(_SPILLED) == stock.map_counter(_SPILLED)
    # What a combiner leaves of several runs, and how well it compresses, is left to chance by none.
    _same(stock, ours, (*_ALWAYS, _EMITTED, *_OF_ONE_RUN, *_OF_BYTES))


def assert_merged_alike(stock: JobResult, ours: JobResult, *, same_format: bool) -> None:
    """Asserts counters of a job whose maps merge their runs, as stock's do: LocalCollector's.

    How many runs a map has is its own affair, and so is what a combiner leaves of them.
    """
    _same(stock, ours, (*_ALWAYS, *(() if _is_large(stock) else (_EMITTED,))))
    _assert_streamed(ours)
    if stock.counter("COMBINE_INPUT_RECORDS"):
        assert ours.counter("COMBINE_INPUT_RECORDS") >= ours.counter("MAP_OUTPUT_RECORDS")
        assert ours.counter("REDUCE_INPUT_RECORDS") >= ours.counter("REDUCE_INPUT_GROUPS")
        return
    records = ours.counter("MAP_OUTPUT_RECORDS")
    assert ours.counter("REDUCE_INPUT_RECORDS") == records
    assert ours.map_counter(_SPILLED) >= records
    if same_format:
        _same(stock, ours, _OF_BYTES)
        # Within a sort buffer of 1 MB decompressors of all runs do not fit: more than one merge.
        assert ours.map_counter(_SPILLED) <= stock.map_counter(_SPILLED)


def _is_large(stock: JobResult) -> bool:
    """Tells whether records are larger than the sort buffer: stock counts otherwise then."""
    return stock.counter(_EMITTED) > 1 << 20 and stock.counter("MAP_OUTPUT_RECORDS") < 100


def assert_large_records_counted(stock: JobResult, ours: JobResult) -> None:
    """Asserts equal counters for records that are each larger than the sort buffer.

    Stock runs no combiner on such records.
    """
    _same(stock, ours, (*_ALWAYS, "REDUCE_INPUT_RECORDS"))
    _assert_streamed(ours)
    assert ours.map_counter(_SPILLED) == stock.map_counter(_SPILLED)
    # Stock counts what it stored of such a record, ours what the mapper emitted.
    assert ours.counter(_EMITTED) < stock.counter(_EMITTED)


def _assert_streamed(ours: JobResult) -> None:
    assert ours.counter("PASSES") == 0
    assert _spilled_by_reducers(ours) == 0


def _runs(stock: JobResult, ours: JobResult, *, same_format: bool) -> None:
    """Maps of several runs: stock counts each record again when it merges them."""
    records = ours.counter("MAP_OUTPUT_RECORDS")
    _same(stock, ours, ("REDUCE_INPUT_RECORDS",))
    assert ours.counter("REDUCE_INPUT_RECORDS") == records
    assert stock.map_counter(_SPILLED) == 2 * records
    assert ours.map_counter(_SPILLED) == records
    if same_format:
        _same(stock, ours, ("REDUCE_SHUFFLE_BYTES",))


def _combined_runs(stock: JobResult, ours: JobResult) -> None:
    """The same with a combiner, which stock runs once more when it merges."""
    records, left = ours.counter("MAP_OUTPUT_RECORDS"), ours.counter("REDUCE_INPUT_RECORDS")
    assert stock.counter("COMBINE_INPUT_RECORDS") > records
    assert ours.counter("COMBINE_INPUT_RECORDS") == records
    assert ours.counter("COMBINE_OUTPUT_RECORDS") == left
    assert ours.map_counter(_SPILLED) == left
    assert left >= stock.counter("REDUCE_INPUT_RECORDS")


def _spilled_by_reducers(job: JobResult) -> int:
    return job.counter(_SPILLED) - job.map_counter(_SPILLED)


def _same(stock: JobResult, ours: JobResult, names: tuple[str, ...]) -> None:
    pairs = {name: (ours.counter(name), stock.counter(name)) for name in names}
    different = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    assert not different, different
