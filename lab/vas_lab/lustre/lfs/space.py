"""Runs `lfs df`, `osts`, `mdts`, `check` and `getname` of the lab's `lfs`.

The functions raise OSError if the MDS does not answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from vas_lab.lustre.lfs import usage
from vas_lab.lustre.lfs.client import INSTANCE, LfsClient, client_uuid, err, out
from vas_lab.lustre.lfs.options import Option, UsageError, parse

# One small MDT, as sites have: its size is made up, its files are counted.
_MDT_BYTES = 1 << 30
_MDT_FILES = 1 << 20
_OST_OBJECTS = 1 << 20
_BYTES_PER_FILE = 4096


@dataclass(frozen=True)
class StorageTarget:
    """One MDT or OST, with its bytes and inodes."""

    name: str
    index: int
    total_bytes: int
    used_bytes: int
    total_files: int
    used_files: int
    available_bytes: int

    @property
    def kind(self) -> str:
        """The kind of target: `MDT` or `OST`."""
        return "MDT" if "-MDT" in self.name else "OST"


def df_text(targets: list[StorageTarget], mount: str, *, human: bool, inodes: bool) -> str:
    """Returns the text of `lfs df`."""
    if inodes:
        heading = ("Inodes", "IUsed", "IFree", "IUse%")
    else:
        heading = ("bytes" if human else "1K-blocks", "Used", "Available", "Use%")
    lines = ["{:<20} {:>11} {:>11} {:>11} {:>4}  Mounted on".format("UUID", *heading)]
    for target in targets:
        place = f"{mount}[{target.kind}:{target.index}]"
        lines.append(_row(target.name, place, _numbers(target, inodes=inodes), human=human))
    summary = _summary(targets, inodes=inodes)
    lines += ["", _row("filesystem_summary:", mount, summary, human=human), ""]
    return "\n".join(lines) + "\n"


def _numbers(target: StorageTarget, *, inodes: bool) -> tuple[int, int, int]:
    if inodes:
        free = target.total_files - target.used_files
        return target.total_files, target.used_files, free
    return target.total_bytes, target.used_bytes, target.available_bytes


def _summary(targets: list[StorageTarget], *, inodes: bool) -> tuple[int, int, int]:
    mdts = [_numbers(t, inodes=inodes) for t in targets if t.kind == "MDT"]
    osts = [_numbers(t, inodes=inodes) for t in targets if t.kind == "OST"]
    total, used, free = (sum(column) for column in zip(*osts, strict=True))
    if not inodes:
        return total, used, free
    # Files are made on the MDTs, at most one for each object left.
    made = sum(numbers[1] for numbers in mdts)
    left = min(sum(numbers[2] for numbers in mdts), free)
    return made + left, made, left


def _row(name: str, place: str, numbers: tuple[int, int, int], *, human: bool) -> str:
    _, used, free = numbers
    percent = -(-100 * used // (used + free)) if used + free else 0
    if human:
        words = [_human(number) for number in numbers]
        return "{:<20} {:>9} {:>9} {:>9} {:>3}%  {} ".format(name, *words, percent, place)
    return "{:<20} {:>11} {:>11} {:>11} {:>3}%  {} ".format(name, *numbers, percent, place)


def _human(kibibytes: int) -> str:
    value, units = float(kibibytes), "KMGTP"
    while value >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{value:.1f}{units[0]}"


def df(client: LfsClient, words: list[str]) -> int:
    """Runs `lfs df`: prints space or inodes per target; returns the exit status."""
    options = (Option("human-readable", "h"), Option("inodes", "i"), Option("lazy", "l"))
    try:
        parsed = parse(words, options)
    except UsageError as wrong:
        err(str(wrong))
        return 4
    if client.mount is None or not all(client.holds(path) for path in parsed.operands):
        err("lfs df: cannot find a mounted Lustre file system: No such file or directory (2)")
        return 2
    human, inodes = parsed.has("human-readable"), parsed.has("inodes")
    out(df_text(_targets(client), str(client.mount), human=human, inodes=inodes))
    return 0


def _targets(client: LfsClient) -> list[StorageTarget]:
    fsname, space = client.info()["fsname"], client.ask("df")
    files = space["files"]
    mdt_used = files * _BYTES_PER_FILE
    mdt = _target(f"{fsname}-MDT0000_UUID", 0, _MDT_BYTES, mdt_used, _MDT_FILES, files)
    return [
        mdt,
        *(
            _target(
                f"{fsname}-OST{int(index):04x}_UUID",
                int(index),
                ost["total_bytes"],
                ost["used_bytes"],
                _OST_OBJECTS,
                ost["objects"],
            )
            for index, ost in space["osts"].items()
        ),
    ]


def _target(
    name: str, index: int, total: int, used: int, files: int, used_files: int
) -> StorageTarget:
    blocks, used_blocks = total >> 10, -(-used // 1024)
    return StorageTarget(name, index, blocks, used_blocks, files, used_files, blocks - used_blocks)


def osts(client: LfsClient, words: list[str]) -> int:
    """Runs `lfs osts`: lists the OSTs, none for a path that is not Lustre; returns the exit
    status."""
    if client.mount is not None and all(client.holds(path) for path in words):
        info = client.info()
        out("OBDS:\n")
        for index in info["osts"]:
            out(f"{index}: {info['fsname']}-OST{index:04x}_UUID ACTIVE\n")
    return 0


def mdts(client: LfsClient, words: list[str]) -> int:
    """Runs `lfs mdts`: lists the MDTs; returns the exit status."""
    if client.mount is not None and all(client.holds(path) for path in words):
        out(f"MDTS:\n0: {client.info()['fsname']}-MDT0000_UUID ACTIVE\n")
    return 0


def check(client: LfsClient, words: list[str]) -> int:
    """Runs `lfs check osts|mds|servers|all`: targets are active while the lab's MDS is."""
    info = client.info()
    if words[:1] != ["mds"]:
        for index in info["osts"]:
            out(f"{info['fsname']}-OST{index:04x}-osc-{INSTANCE} active.\n")
    if words[:1] != ["osts"]:
        out(f"{info['fsname']}-MDT0000-mdc-{INSTANCE} active.\n")
    return 0


_GETNAME_OPTIONS = (
    Option("instance", "i"),
    Option("fsname", "n"),
    Option("uuid", "u"),
    Option("help", "h"),
)


def getname(client: LfsClient, words: list[str]) -> int:
    """Runs `lfs getname` and returns the exit status.

    Prints `FSNAME-INSTANCE`, or what an option asks for: one of the two, or the client's UUID.
    """
    try:
        parsed = parse(words, _GETNAME_OPTIONS)
    except UsageError as wrong:
        out(usage.GETNAME)
        err(str(wrong))
        return 4
    if client.mount is None or parsed.has("help"):
        out(usage.GETNAME if parsed.has("help") else "")
        return 0
    for path in parsed.operands:
        if not client.holds(path):
            err(f"lfs getname: '{path}' not on a mounted Lustre filesystem")
            return 22
    fsname = client.info()["fsname"]
    parts = {"instance": INSTANCE, "fsname": fsname, "uuid": client_uuid(fsname)}
    asked = [parts[name] for name, _ in parsed.options]
    text = asked[-1] if asked else f"{fsname}-{INSTANCE}"
    for suffix in [""] * len(parsed.operands) or [f" {client.mount}"]:
        out(f"{text}{suffix}\n")
    return 0
