"""The layouts that the preloaded library makes: asked for, by default, refused."""

from __future__ import annotations

import pytest
from preloaded import child, layout_of, objects
from stand_in import in_lab

from vas_lab.lustre.stand_in import LabLustre
from vas_layout.codec import decode, encode
from vas_layout.model import MDT, OVERSTRIPING, RAID0, Composite, Foreign, Magic, Plain
from vas_layout.requests import data_on_mdt, progressive, stripes

pytestmark = pytest.mark.machine

REQUESTS = {
    "default": (stripes(0, 0), (4 << 20, 1)),
    "count-2": (stripes(1 << 20, 2), (1 << 20, 2)),
    "all": (stripes(1 << 20, -1), (1 << 20, 4)),
    "more-than-there-are": (stripes(0, 5), (4 << 20, 4)),
    "start": (stripes(65536, 2, start=3), (65536, 2)),
    "pool": (stripes(0, 4, pool="slow"), (4 << 20, 2)),
    "exact": (stripes(65536, 3, osts=[3, 0, 2]), (65536, 3)),
    "exact-twice": (stripes(65536, 3, osts=[1, 1, 2]), (65536, 3)),
    "overstriped": (Plain(Magic.V1, RAID0 | OVERSTRIPING, 65536, 8), (65536, 8)),
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_mknod_then_setxattr_makes_the_layout_asked_for(site: LabLustre, kind: str) -> None:
    request, (size, count) = REQUESTS[kind]
    name = f"asked-{kind}"
    code = f"os.mknod({name!r}); absent = fails(lov, {name!r})\n"
    code += f"os.setxattr({name!r}, 'lustre.lov', bytes.fromhex('{encode(request).hex()}'))\n"
    code += f"answer = [absent, lov({name!r})]"
    absent, raw = child(site, code)
    layout = decode(bytes.fromhex(raw))
    assert absent == "ENODATA"
    assert isinstance(layout, Plain)
    assert (layout.stripe_size, layout.stripe_count, len(layout.objects)) == (size, count, count)
    osts = [item.ost_idx for item in layout.objects]
    if request.magic is Magic.SPECIFIC:
        assert osts == [item.ost_idx for item in request.objects]
    elif request.stripe_offset is not None:
        assert osts[0] == request.stripe_offset
    if request.pool:
        assert (set(osts), layout.pool) == ({2, 3}, "slow")
    assert bool(layout.pattern & OVERSTRIPING) == (len(set(osts)) < len(osts))
    # What a client reads hides the generation and the start.
    assert raw[60:64] == "ffff"


def test_a_second_setxattr_succeeds_and_changes_nothing(site: LabLustre) -> None:
    first, second = (encode(stripes(65536, count)).hex() for count in (4, 1))
    code = f"""
open("touched", "w"); os.mknod("made")
os.setxattr("made", "lustre.lov", bytes.fromhex("{first}"))
answer = []
for name in ("touched", "made"):
    before = lov(name)
    os.setxattr(name, "lustre.lov", bytes.fromhex("{second}"))
    answer.append([before, lov(name)])
"""
    for before, after in child(site, code):
        assert before == after
    assert layout_of(site, "touched").stripe_count == 1
    assert layout_of(site, "made").stripe_count == 4


def test_mknod_then_writing_gives_the_default(site: LabLustre) -> None:
    code = """
os.mknod("late"); before = fails(lov, "late")
open("late").close(); read = fails(lov, "late")
open("late", "r+").close()
answer = [before, read, lov("late")]
"""
    before, after_reading, raw = child(site, code)
    assert (before, after_reading) == ("ENODATA", "ENODATA")
    assert len(objects(decode(bytes.fromhex(raw)))) == 1


def test_delayed_creation_waits_for_the_layout(site: LabLustre) -> None:
    code = f"""
flags = os.O_CREAT | os.O_WRONLY | 0o100000000 | 0o20000 | os.O_NOCTTY
fd = os.open("delayed", flags, 0o644); before = fails(lov, "delayed")
os.setxattr(fd, "lustre.lov", bytes.fromhex("{encode(stripes(65536, 2)).hex()}"))
os.write(fd, b"x"); answer = [before, lov("delayed")]
"""
    before, raw = child(site, code)
    assert before == "ENODATA"
    assert len(objects(decode(bytes.fromhex(raw)))) == 2


def test_directory_defaults_are_inherited(site: LabLustre) -> None:
    code = f"""
os.mkdir("top"); none = fails(lov, "top")
os.setxattr("top", "lustre.lov", bytes.fromhex("{encode(stripes(65536, 2, start=1)).hex()}"))
os.mkdir("top/below"); os.makedirs("top/below/c/d"); tempfile.mkdtemp(prefix="t", dir="top")
top = os.open("top", os.O_RDONLY); os.mkdir("at", dir_fd=top)
os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=top))
os.chdir("top/below/c/d"); open("file", "w"); os.chdir("../../../..")
made = [name for name in os.listdir("top") if name.startswith("t")][0]
names = ["top", "top/below", "top/below/c/d", "top/at", "top/" + made]
answer = [none, [lov(name) for name in names], lov("top/file"), lov("top/below/c/d/file")]
"""
    none, directories, *files = child(site, code)
    assert none == "ENODATA"
    assert len(set(directories)) == 1
    default = decode(bytes.fromhex(directories[0]))
    # The start, 1, is hidden from getxattr; lfs shows it.
    assert (default.stripe_size, default.stripe_count, default.stripe_offset) == (65536, 2, None)
    for raw in files:
        assert [item.ost_idx for item in decode(bytes.fromhex(raw)).objects] == [1, 2]
    in_lab(site, "lfs setstripe -d top; mkdir top/later")
    assert child(site, "answer = [fails(lov, 'top'), fails(lov, 'top/later')]") == ["ENODATA"] * 2


BAD_VALUES = {
    "empty": b"",
    "short": b"\xd0\x0b\xd1\x0b",
    "unknown magic": bytes(32),
    "odd size": encode(Plain(Magic.V1, RAID0, 65537, 1)),
    "no such OST": encode(Plain(Magic.V1, RAID0, 65536, 1, 9)),
    "no such OST listed": encode(stripes(65536, 2, osts=[0, 9])),
    "start outside the pool": encode(Plain(Magic.V3, RAID0, 0, 1, 3, pool="fast")),
    "plain on the MDT": encode(data_on_mdt(65536)),
    "count": encode(Plain(Magic.V1, RAID0, 65536, -7)),
    "gap": encode(progressive([(1 << 20, stripes(0, 1))])).replace(
        bytes(8), b"\0\0\1" + bytes(5), 1
    ),
}


@pytest.mark.parametrize("kind", BAD_VALUES)
def test_bad_values_are_refused_and_leave_the_file_open_to_better(
    site: LabLustre, kind: str
) -> None:
    name = "bad-" + kind.replace(" ", "-")
    code = f"""
os.mknod({name!r})
refused = fails(os.setxattr, {name!r}, "lustre.lov", bytes.fromhex("{BAD_VALUES[kind].hex()}"))
missing = fails(lov, {name!r})
os.setxattr({name!r}, "lustre.lov", bytes.fromhex("{encode(stripes(65536, 2)).hex()}"))
answer = [refused, missing, lov({name!r})]
"""
    refused, missing, raw = child(site, code)
    assert (refused, missing) == ("EINVAL", "ENODATA")
    assert decode(bytes.fromhex(raw)).stripe_count == 2


def test_components_get_objects_once_the_file_reaches_them(site: LabLustre) -> None:
    request = progressive(
        [(1 << 20, data_on_mdt(1 << 20)), (8 << 20, stripes(0, 1)), (None, stripes(0, -1))]
    )
    code = f"""
os.mknod("pfl"); os.setxattr("pfl", "lustre.lov", bytes.fromhex("{encode(request).hex()}"))
answer = []
for size in (0, 1 << 20, (1 << 20) + 1, 9 << 20, 9 << 20):
    os.truncate("pfl", size); answer.append(lov("pfl"))
"""
    steps = [decode(bytes.fromhex(raw)) for raw in child(site, code)]
    placed = [[len(part.layout.objects) for part in step.components] for step in steps]
    assert placed == [[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 4], [0, 1, 4]]
    assert [step.layout_gen for step in steps] == [3, 3, 4, 5, 5]
    assert steps[3] == steps[4]
    assert steps[0].components[0].layout.pattern == MDT


def test_mirrors_lie_apart_and_the_second_goes_stale(site: LabLustre) -> None:
    in_lab(site, "lfs setstripe -N2 -c 2 mirrored")
    before = layout_of(site, "mirrored")
    in_lab(site, "echo x > mirrored")
    after = layout_of(site, "mirrored")
    assert isinstance(after, Composite)
    osts = [{item.ost_idx for item in part.layout.objects} for part in after.components]
    assert osts[0].isdisjoint(osts[1])
    assert [(step.flags, [part.flags for part in step.components]) for step in (before, after)] == [
        (1, [0x10, 0x10]),
        (2, [0x10, 0x11]),
    ]


def test_foreign_layouts_are_kept(site: LabLustre) -> None:
    in_lab(site, "lfs setstripe --foreign=none --xattr=foo@bar foreign")
    assert layout_of(site, "foreign") == Foreign(0, 0, b"foo@bar")
