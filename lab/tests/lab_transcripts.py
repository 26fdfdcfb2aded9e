"""Reading the captured transcripts, giving files their layouts, and what may differ."""

from __future__ import annotations

import codecs
import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from vas_layout.codec import decode, encode
from vas_layout.model import OVERSTRIPING, RAID0, Composite, Fid, Magic, Plain, StripeObject

HERE = Path(__file__).parent / "transcripts"
CAPTURED_MOUNT = "/mnt/testfs"
_STORED, _FID = "user.lustre.lov", "user.lustre.fid"
# Written between the two halves of the capture: these show the layouts after a write.
_AFTER_WRITE = re.compile(r".*-written|getstripe-")
_NAMES = {"mdt": 0x100, "raid0": RAID0, "overstriped": OVERSTRIPING}


@dataclass(frozen=True)
class Transcript:
    """One command: text as bytes decoded with surrogateescape."""

    name: str
    command: str
    stdout: str
    stderr: str
    status: int


def index() -> list[tuple[str, str, str]]:
    """(file, how, note) of every transcript captured."""
    lines = (HERE / "INDEX.tsv").read_text().splitlines()[1:]
    return [(row[0], row[1], row[2]) for row in (line.split("\t") for line in lines)]


def named(how: str) -> list[str]:
    """The files tested in one way."""
    return [name for name, this, _ in index() if this == how]


def read(name: str) -> Transcript:
    """One transcript of `text/`."""
    text = os.fsdecode((HERE / "text" / name).read_bytes())
    match = re.fullmatch(
        r"\$ (.*?)\n=== stdout\n(.*?)=== stderr\n(.*?)=== exit (\d+)\n", text, re.DOTALL
    )
    assert match, name
    command = match[1].removeprefix("(as alice) ")
    return Transcript(name, command, match[2], match[3], int(match[4]))


def at(mount: Path, text: str) -> str:
    """The text with the captured mount's path replaced."""
    return text.replace(CAPTURED_MOUNT, str(mount))


# ---- layouts of files ----


def store(path: Path, layout: bytes | None, fid: str | None) -> None:
    """Gives a file or directory its stored layout, as if the MDS had."""
    if layout:
        os.setxattr(path, _STORED, layout)
    if fid:
        os.setxattr(path, _FID, fid.strip("[]").encode())


def captured_bytes(name: str) -> bytes | None:
    """The bytes of `xattr/NAME.bin`; None when the real one had none."""
    path = HERE / "xattr" / f"{name}.bin"
    return path.read_bytes() if path.exists() else None


def fids() -> dict[str, str]:
    """Captured path -> FID, from what `-v` and `-F` printed."""
    found: dict[str, str] = {}
    for name in named("planted"):
        transcript = read(name)
        if name.endswith(("-v.txt", "written-v.txt")):
            path = None
            for line in transcript.stdout.splitlines():
                if CAPTURED_MOUNT in line:
                    path = line.removeprefix("(Default) ")
                elif "lmm_fid:" in line and path:
                    found[path] = line.split()[-1]
        elif "-F -" in transcript.command or "-F /" in transcript.command:
            path = transcript.command.split()[-1]
            if transcript.stdout.startswith("["):
                found[path] = transcript.stdout.split()[0]
    return found


def blocks(stdout: str) -> dict[str, str]:
    """Path -> its text, of output with a path line before each entry."""
    parts = re.split(rf"^(?=(?:\(Default\) ?)?{CAPTURED_MOUNT}/)", stdout, flags=re.MULTILINE)
    found = {}
    for part in filter(None, parts):
        head, _, _ = part.partition("\nlmm_")
        head = head.partition("\n  lcm_")[0].partition("\nstripe_")[0].partition("\nlfm_")[0]
        found[head.partition("\n\t")[0].rstrip("\n") if "\n\t" in head else head] = part
    return found


def plain_from_text(text: str) -> bytes | None:
    """The bytes of a plain layout that lfs printed; objects not shown are made up."""
    values = dict(re.findall(r"^lmm_(\w+): +(\S+)$", text, flags=re.MULTILINE))
    if "stripe_count" not in values:
        return None
    rows = re.findall(r"^\t +(\d+)\t +(\d+)\t +\S+\t +(\S+)$", text, flags=re.MULTILINE)
    objects = [StripeObject(int(i), Fid(int(group, 0), int(oid))) for i, oid, group in rows]
    pairs = re.findall(r"l_ost_idx: (\d+)\n +l_fid: +(\S+)", text)
    for ost, fid in pairs:
        objects.append(StripeObject(int(ost), Fid(*(int(part, 16) for part in fid.split(":")))))
    count, first = int(values["stripe_count"]), int(values["stripe_offset"])
    if not objects:
        objects = [StripeObject((first + k) % 4, Fid(0x280000400, 1 + k)) for k in range(count)]
    pool = values.get("pool")
    pattern = sum(_NAMES[word] for word in values.get("pattern", "raid0").split(","))
    return encode(
        Plain(
            magic=Magic.V3 if pool else Magic.V1,
            pattern=pattern,
            stripe_size=int(values["stripe_size"]),
            stripe_count=count,
            stripe_offset=objects[0].ost_idx,
            pool=pool,
            objects=tuple(objects),
        )
    )


class Planter:
    """Gives the files a transcript speaks of the layouts they had."""

    def __init__(self, mount: Path) -> None:
        self._mount = mount
        self._fids = fids()

    def prepare(self, transcript: Transcript) -> None:
        """Makes every file and directory the transcript needs, in its order."""
        for path in re.findall(rf"{CAPTURED_MOUNT}/lay/[\w.-]+", transcript.stdout):
            self._file(path, transcript)
        for path in re.findall(rf"{CAPTURED_MOUNT}/lay/[\w.-]+", transcript.command):
            self._file(path, transcript)
        for path in re.findall(rf"{CAPTURED_MOUNT}/dirs/\w+", transcript.command):
            self._directory(path)
        if "/names" in transcript.command:
            self._names(transcript)

    def real(self, captured: str) -> Path:
        """Where a captured path lies here."""
        return Path(at(self._mount, captured))

    def _file(self, captured: str, transcript: Transcript) -> None:
        name = captured.rpartition("/")[2]
        written = _AFTER_WRITE.match(transcript.name) and captured_bytes(f"{name}.written")
        layout = written or captured_bytes(name)
        if layout:
            self._touch(captured)
            store(self.real(captured), layout, self._fids.get(captured))

    def _touch(self, captured: str) -> None:
        path = self.real(captured)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def _directory(self, top: str) -> None:
        name = top.rpartition("/")[2]
        self._touch(f"{top}/file")
        self.real(f"{top}/sub").mkdir(exist_ok=True)
        self._touch(f"{top}/sub/file")
        for captured, key in ((top, name), (f"{top}/sub", "sub"), (f"{top}/file", "file")):
            layout = captured_bytes(f"dir-{name}-{key}")
            if layout and name == "i1" and key != "file":
                # getxattr hides the start index of a default, which lfs shows.
                layout = encode(replace(_plain(layout), stripe_offset=1))
            store(self.real(captured), layout, self._fids.get(captured))
        self._deep_file(top, name)

    def _deep_file(self, top: str, name: str) -> None:
        """sub/file: its bytes were not read, so they are made of the file's own or the text."""
        listing = read(f"dirget-{name}-R.txt").stdout
        layout = plain_from_text(blocks(listing).get(f"{top}/sub/file", ""))
        layout = layout or captured_bytes(f"dir-{name}-file")
        if layout and name in ("pfl", "dom"):
            layout = _deep_composite(layout, blocks(listing)[f"{top}/sub/file"])
        store(self.real(f"{top}/sub/file"), layout, None)

    def _names(self, transcript: Transcript) -> None:
        if transcript.command.startswith("lfs getstripe -r"):
            self._listed(f"{CAPTURED_MOUNT}/names")
            return
        captured = _named_path(transcript.command)
        self._touch(captured)
        store(self.real(captured), plain_from_text(transcript.stdout), None)

    def _listed(self, top: str) -> None:
        for captured, text in blocks(read("names-r.txt").stdout).items():
            if captured != top:
                self._touch(captured)
                store(self.real(captured), plain_from_text(text), None)


def _named_path(command: str) -> str:
    """The path a command ends with; in `$'...'` bash's escapes stand for bytes."""
    _, found, quoted = command.partition("$'")
    if not found:
        return shlex.split(command)[-1]
    raw, _ = codecs.escape_decode(quoted.removesuffix("'").encode())
    return os.fsdecode(raw)


def _plain(raw: bytes) -> Plain:
    layout = decode(raw)
    assert isinstance(layout, Plain)
    return layout


def _deep_composite(raw: bytes, text: str) -> bytes:
    """The sibling's layout with the objects, or the MDT, that the text names."""
    layout = decode(raw)
    assert isinstance(layout, Composite)
    first, *others = layout.components
    plain = first.layout
    assert isinstance(plain, Plain)
    found = re.search(r"l_ost_idx: +(\d+), l_fid: \[(\S+)\]", text)
    if found:
        fid = Fid(*(int(part, 16) for part in found[2].split(":")))
        plain = replace(plain, objects=(StripeObject(int(found[1]), fid),))
    else:
        mdt = re.search(r"lmm_mdt_index: +(\d+)", text)
        plain = replace(plain, stripe_offset=int(mdt[1]) if mdt else 0)
    return encode(replace(layout, components=(replace(first, layout=plain), *others)))


# ---- what may differ ----


def without_second_mdt(text: str) -> str:
    """The lab has one MDT and names no MGC: no line about others."""
    text = re.sub(r"^.*MDT0001.*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^MGC.* active\.\n", "", text, flags=re.MULTILINE)


def on_first_mdt(text: str) -> str:
    """`nodef/sub` lay on the second MDT, where a directory without a default prints raid0."""
    directory_line = r"^((?:stripe_count: .*)?pattern:       )raid0( |$)"
    return re.sub(directory_line, r"\1\2", text, flags=re.MULTILINE)


def entries(stdout: str, command: str) -> list[str]:
    """A listing entry by entry, sorted: the order is that of the directory's hash."""
    if not re.search(r"getstripe .*(-r|-O|-D)|getstripe (-v -d |-v | )?/mnt/testfs/dirs", command):
        return [stdout]
    first_key = r"(?:lmm_stripe_count|stripe_count|lcm_layout_gen):"
    start = first_key if " -y" in command else r"\(Default\)|/"
    return sorted(re.split(rf"^(?={start})", stdout, flags=re.MULTILINE))


def masked(text: str) -> str:
    """Without what the allocator or a counter chooses: OSTs, objects, groups, FIDs, UUIDs."""
    text = re.sub(r"^\t +\d+\t +\d+\t +\S+\t +\S+$", "\tOBJECT", text, flags=re.MULTILINE)
    text = re.sub(r"l_ost_idx: +\d+, l_fid: \[\S+\]", "OBJECT", text)
    text = re.sub(r"(lmm_stripe_offset:) \d+", r"\1 OST", text)
    text = re.sub(r"ff[0-9a-f]{14}", "INSTANCE", text)
    text = re.sub(r"\[?0x[0-9a-f]+:0x[0-9a-f]+:0x0\]?", "FID", text)
    return re.sub(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", "UUID", text)
