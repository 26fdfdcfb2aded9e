"""`vas layout`: who owns a byte of a Lustre file, and files whose splits have one owner."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import click

from vas_cluster import Cluster, default_path, load_cluster
from vas_core.cli import SizeType, json_option, note, print_json
from vas_core.errors import BadInput, NotHere, VasError
from vas_core.reading import read_limited
from vas_core.shown import shown
from vas_core.sizes import format_size
from vas_layout import views
from vas_layout.as_json import layout_json
from vas_layout.codec import decode
from vas_layout.errors import LayoutError, LayoutUnavailableError
from vas_layout.hexdump import attribute_bytes
from vas_layout.ingest import Ingested, destination_of, put
from vas_layout.lfs import Lfs
from vas_layout.locate import Locality, placements, split_placements
from vas_layout.mismatch import LeftAlone, Mismatch, Wish, find_mismatches, migrate
from vas_layout.model import ALL_OSTS, MAX_XATTR_BYTES, Plain
from vas_layout.owners import OstOwners
from vas_layout.paths import is_directory, size_of, walk
from vas_layout.planning import StripePlan, plan_stripes
from vas_layout.store import LayoutReader

_DEFAULT_SPLIT = "128MiB"
# Hexadecimal text with spaces is some three times as long as its bytes.
_MAX_TEXT_BYTES = 8 * MAX_XATTR_BYTES

# Whether a path may be read is for the layout's reader to say: `lfs` may see what we may not.
_path = click.Path(path_type=Path, readable=False)
_cluster_option = click.option(
    "--cluster", "map_file", type=_path, help="The site's map [default: as `vas cluster show`]."
)
_split_option = click.option(
    "--split", type=SizeType(), default=_DEFAULT_SPLIT, show_default=True, help="Input split size."
)
_osts_option = click.option(
    "--osts", type=click.IntRange(1), help="Number of OSTs [default: those in the map, or all]."
)
_pool_option = click.option("--pool", help="Only OSTs of this pool.")
_dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would be done.")


@click.group()
def layout() -> None:
    """Show, explain and set the stripe layouts of Lustre files."""


@layout.command()
@click.argument("paths", nargs=-1, required=True, type=_path)
@json_option
def show(paths: tuple[Path, ...], as_json: bool) -> int:
    """Show the layout of files, and the default of directories.

    \b
    Example: vas layout show /lustre/input/part-00000 --json
    """
    reader, found, failed = LayoutReader(), [], 0
    for path in paths:
        try:
            found.append((path, reader.read(path)))
        except LayoutUnavailableError as unreadable:
            note(f"vas: {unreadable}")
            failed = 1
    views.print_layouts(found, as_json)
    return failed


@layout.command(name="decode")
@click.argument("file", type=_path)
@json_option
def decode_command(file: Path, as_json: bool) -> None:
    """Print `lustre.lov` bytes as JSON.

    The bytes are raw or hexadecimal; FILE may be - for stdin.

    \b
    Examples: vas layout decode lustre-layout/vectors/pfl.bin
              getfattr -n lustre.lov -e hex /lustre/f | vas layout decode -
    """
    try:
        print_json(layout_json(decode(attribute_bytes(_given(file)))))
    except LayoutError as wrong:
        raise BadInput(wrong.what, where="<stdin>" if str(file) == "-" else str(file)) from wrong


def _given(file: Path) -> bytes:
    if str(file) != "-":
        try:
            return read_limited(file, _MAX_TEXT_BYTES)
        except OSError as wrong:
            raise BadInput(f"cannot be read: {wrong.strerror}", where=str(file)) from wrong
    given = sys.stdin.buffer.read(_MAX_TEXT_BYTES + 1)
    if len(given) > _MAX_TEXT_BYTES:
        raise LayoutError(f"oversized: more than {_MAX_TEXT_BYTES} bytes given")
    return given


@layout.command()
@click.argument("path", type=_path)
@click.option("--offset", type=SizeType(), default=0, help="First byte [default: 0].")
@click.option("--length", type=SizeType(), help="Number of bytes [default: to the file's end].")
@click.option(
    "--split", type=SizeType(), help="Show the VM that owns most of each split, as YARN is told."
)
@_cluster_option
@json_option
def locate(
    path: Path,
    offset: int,
    length: int | None,
    split: int | None,
    map_file: Path | None,
    as_json: bool,
) -> None:
    """Show the OST, OSS and VM of each byte range of a file.

    \b
    Examples: vas layout locate /lustre/input/part-00000 --offset 1G --length 256M
              vas layout locate /lustre/input/part-00000 --split 128M
    """
    if split == 0:
        raise BadInput("--split: a split must not be empty", hint="give 128M or so")
    if is_directory(path):
        raise BadInput(
            "is a directory", where=str(path), hint="`vas layout locality` adds up trees"
        )
    size = size_of(path)
    rest = max(0, size - offset) if length is None else length
    layout, owners = LayoutReader().read(path), _owners(load_map(map_file))
    found = (
        split_placements(layout, size, split, owners, offset=offset, length=rest)
        if split
        else placements(layout, offset, rest, owners)
    )
    views.print_placements(path, size, found, as_json)


@layout.command()
@click.argument("paths", nargs=-1, required=True, type=_path)
@_cluster_option
@json_option
def locality(paths: tuple[Path, ...], map_file: Path | None, as_json: bool) -> int:
    """Show how many bytes each VM owns of files and trees.

    \b
    Example: vas layout locality /lustre/input --json
    """
    reader, total = LayoutReader(), Locality(_owners(load_map(map_file)))
    count = unreadable = 0
    for file in _files_of(paths, reader):
        try:
            if isinstance(file, LayoutUnavailableError):
                raise file
            size = size_of(file)
            if size:
                total.add(reader.read(file), size)
            count += 1
        except LayoutUnavailableError as refused:
            note(f"vas: {refused}")
            unreadable += 1
    if count or as_json:
        views.print_locality(total, count, as_json)
    return 1 if unreadable else 0


def _files_of(
    paths: tuple[Path, ...], reader: LayoutReader
) -> Iterator[Path | LayoutUnavailableError]:
    for path in paths:
        size_of(path)
        if is_directory(path):
            reader.refuse_other_file_systems(path)
            yield from walk(path)
        else:
            yield path


@layout.command()
@click.option("--size", type=SizeType(), required=True, help="The file's size.")
@_split_option
@_osts_option
@_pool_option
@_cluster_option
@json_option
def plan(
    size: int, split: int, osts: int | None, pool: str | None, map_file: Path | None, as_json: bool
) -> None:
    """Plan stripes so that each split lies on one OST.

    \b
    Example: vas layout plan --size 10G --split 128M --osts 4
    """
    found = plan_stripes(size, split, _count(osts, pool, map_file), pool)
    if as_json:
        print_json({**asdict(found), "splits": found.splits, "lfs": found.lfs_arguments})
        return
    for reason in found.reasons:
        click.echo(reason)
    click.echo(f"lfs setstripe {' '.join(found.lfs_arguments)} FILE")


@layout.command(name="put")
@click.argument("source", type=_path)
@click.argument("destination")
@_split_option
@_osts_option
@_pool_option
@_cluster_option
@click.option("--parallel", type=click.IntRange(1, 64), default=4, show_default=True)
@_dry_run_option
@json_option
def put_command(
    source: Path,
    destination: str,
    split: int,
    osts: int | None,
    pool: str | None,
    map_file: Path | None,
    parallel: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Copy a file into Lustre with one stripe per split.

    Sets the layout first, copies in parallel, verifies by reading back, and gives the final name
    only to the whole file. Interrupted, the same command goes on where it was.

    \b
    Example: vas layout put big.csv /lustre/input/ --split 128M
    """
    size = size_of(source)
    final = destination_of(source, destination)
    planned = plan_stripes(size, split, _count(osts, pool, map_file), pool)
    if dry_run:
        views.say_plan(f"would put {source} to {final}", planned, as_json)
        return
    _check_pool(pool, final.parent)
    try:
        with views.progress(f"put {final.name}", size) as advance:
            done = put(source, final, planned, threads=parallel, progress=advance)
    except KeyboardInterrupt:
        note("stopped: run the same command again to go on from here")
        raise
    if not done.adjusted:
        _note_fewer(done, planned, final.parent)
    views.say_put(done, planned, as_json)


def _note_fewer(done: Ingested, planned: StripePlan, directory: Path) -> None:
    """Says that the file is on fewer OSTs than were asked for, where their number is known."""
    wanted: int | None = planned.stripe_count
    if wanted == ALL_OSTS:
        wanted = None
        with suppress(VasError):
            lfs, pool = Lfs(), planned.pool
            wanted = lfs.pool_osts(directory, pool) if pool else lfs.active_osts(directory)
    made = done.layout.stripe_count if isinstance(done.layout, Plain) else None
    if made is not None and wanted is not None and made < wanted:
        note(f"Lustre made {made} stripes instead of {wanted}: the other OSTs are full or away")


@layout.command()
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@_split_option
@_osts_option
@_pool_option
@_cluster_option
@click.option("--apply", is_flag=True, help="Migrate the files found with `lfs migrate`.")
@_dry_run_option
@json_option
def fix(
    directory: Path,
    split: int,
    osts: int | None,
    pool: str | None,
    map_file: Path | None,
    apply: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Find files whose splits lie on several OSTs.

    With --apply they are migrated.

    \b
    Examples: vas layout fix /lustre/input --split 128M
              vas layout fix /lustre/input --split 128M --apply
    """
    reader, wish = LayoutReader(), Wish(split, _count(osts, pool, map_file), pool)
    plan_stripes(0, split, wish.osts, pool)
    reader.refuse_other_file_systems(directory)
    _check_pool(pool, directory)
    wish = _within_reach(wish, directory, asked=osts is not None)
    found: list[Mismatch | LeftAlone] = []
    unreadable = 0
    for one in find_mismatches(directory, wish, reader):
        if isinstance(one, LayoutUnavailableError):
            note(f"vas: {one}")
            unreadable += 1
        else:
            found.append(one)
    changing = apply and not dry_run
    results = {one.path: _result(one, changing, wish, reader) for one in found}
    views.print_mismatches(found, results, as_json)
    if unreadable:
        note(f"{unreadable} files or directories could not be read")
    elif not found and not as_json:
        note("every split lies on one OST")
    return 1 if unreadable or "failed" in results.values() else 0


def _result(one: Mismatch | LeftAlone, changing: bool, wish: Wish, reader: LayoutReader) -> str:
    if isinstance(one, LeftAlone):
        return "left alone"
    return _migrated(one, wish, reader) if changing else "found"


def _migrated(one: Mismatch, wish: Wish, reader: LayoutReader) -> str:
    note(f"migrating {shown(one.path)} ({format_size(one.file_size)})")
    try:
        return migrate(one, Lfs(), wish, reader)
    except VasError as failed:
        note(f"vas: {failed}")
        return "failed"


def _within_reach(wish: Wish, directory: Path, *, asked: bool) -> Wish:
    """The wish with what Lustre can give: the sizes of pools, and only OSTs that are active."""

    @cache
    def members(pool: str) -> int | None:
        with suppress(VasError):
            return Lfs().pool_osts(directory, pool)
        return None

    osts = wish.osts
    if osts is not None and not asked:
        with suppress(VasError):
            active = Lfs().active_osts(directory)
            if 0 < active < osts:
                note(f"{osts - active} of {osts} OSTs in the map are inactive: not planned for")
                osts = active
    return replace(wish, osts=osts, members=members)


def load_map(map_file: Path | None) -> Cluster:
    return load_cluster(map_file or default_path())


def _count(osts: int | None, pool: str | None, map_file: Path | None) -> int | None:
    """How many OSTs to plan for. A pool's size is not in the map: then all of the pool."""
    if osts is not None or pool is not None:
        return osts
    if map_file is None and not default_path().exists():
        return None
    return sum(len(host.osts) for host in load_map(map_file).hosts) or None


def _check_pool(pool: str | None, directory: Path) -> None:
    """Lustre 2.15 takes the name of a pool that does not exist, and then any OST."""
    if pool is None:
        return
    try:
        known = Lfs().pools(directory)
    except NotHere:
        note(f"lfs is not installed: cannot see whether pool {pool} exists")
        return
    if pool not in known:
        raise BadInput(
            f"there is no pool {pool}", where=str(directory), hint=f"pools: {', '.join(known)}"
        )


def _owners(cluster: Cluster) -> OstOwners:
    def instance() -> str | None:
        try:
            return Lfs().instance(Path(cluster.lustre.mount))
        except VasError:
            return None

    return OstOwners(cluster, instance=instance)
