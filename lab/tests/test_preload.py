"""The preloaded library, through the programs that will run in the lab."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stand_in import in_lab

from vas_core.errors import NotHere
from vas_core.process import run
from vas_lab.lustre import libc
from vas_lab.lustre.stand_in import LabLustre
from vas_layout.codec import decode, encode
from vas_layout.model import MDT, OVERSTRIPING, RAID0, Composite, Foreign, Magic, Plain
from vas_layout.requests import data_on_mdt, progressive, stripes

pytestmark = pytest.mark.machine

_PRELUDE = """
import errno, json, os, stat, sys, tempfile
def lov(path): return os.getxattr(path, "lustre.lov").hex()
def fails(call, *arguments):
    try: call(*arguments)
    except OSError as failed: return errno.errorcode[failed.errno]
    return None
answer = None
"""


def child(lab: LabLustre, code: str) -> Any:
    """Runs Python code in the lab; returns what it left in `answer`."""
    program = f"{_PRELUDE}\n{code}\nprint(json.dumps(answer))"
    argv = [sys.executable, "-c", program]
    done = run(argv, env=lab.environment(), cwd=lab.mount, timeout_seconds=60)
    return json.loads(done.stdout)


def layout_of(lab: LabLustre, name: str) -> Any:
    """A file's layout as a program of the lab reads it."""
    return decode(bytes.fromhex(child(lab, f"answer = lov({name!r})")))


def objects(layout: Any) -> list[str]:
    return [str(item.fid) for item in layout.objects]


WRITERS = {
    "redirection": "echo x > {}",
    "append": "echo x >> {}",
    "noclobber": "set -C; echo x > {}",
    "touch": "touch {}",
    "cp": "cp /etc/passwd {}",
    "cp-sparse": "cp --sparse=always /etc/passwd {}",
    "install": "install -m 400 /etc/passwd {}",
    "dd": "dd if=/dev/zero of={} bs=4k count=1 status=none",
    "tee": "echo x | tee {} > /dev/null",
    "truncate": "truncate -s 1M {}",
    "sort-o": "sort -o {} /etc/passwd",
    "sed-i": "echo x > {0}; sed -i s/x/y/ {0}",
    "mktemp": "mv $(mktemp -p .) {}",
    "tar": "tar -C /etc -cf - passwd | tar -xf - && mv passwd {}",
    "python-open": f'{sys.executable} -c \'open("{{}}", "w")\'',
    "python-tempfile": f"{sys.executable} -c "
    '\'import os,tempfile; os.rename(tempfile.mkstemp(dir=".")[1], "{}")\'',
    "perl": 'perl -e \'open(F, ">", "{}") or die\'',
}


@pytest.mark.unhurried
@pytest.mark.parametrize("program", WRITERS)
def test_a_new_file_has_its_layout_at_once(site: LabLustre, program: str) -> None:
    if program == "perl" and not shutil.which("perl"):
        pytest.skip("perl is not installed")
    name = f"new-{program}"
    in_lab(site, WRITERS[program].format(name))
    # Read without the library, so that nothing is made up on reading.
    layout = decode(os.getxattr(site.mount / name, "user.lustre.lov"))
    assert isinstance(layout, Plain)
    assert (layout.stripe_size, layout.stripe_count, len(layout.objects)) == (4 << 20, 1, 1)


def test_a_file_outside_the_mount_stays_as_it_is(site: LabLustre) -> None:
    beside = Path(f"{site.mount}-not")
    beside.mkdir()
    in_lab(site, f"touch {beside}/f; mkdir {beside}/d; cd {beside}; touch g")
    assert [os.listxattr(beside / name) for name in ("f", "g", "d")] == [[], [], []]
    refused = child(site, "answer = fails(os.getxattr, '/etc/passwd', 'lustre.lov')")
    assert refused in ("EOPNOTSUPP", "ENOTSUP")
    refused = child(site, f"answer = fails(os.setxattr, '{beside}/f', 'lustre.lov', b'x')")
    assert refused in ("EOPNOTSUPP", "ENOTSUP")


def test_without_the_library_nothing_is_made(site: LabLustre) -> None:
    run(["touch", site.mount / "plain"])
    assert os.listxattr(site.mount / "plain") == []


def test_reading_bytes_made_behind_the_library_gives_them_a_layout(site: LabLustre) -> None:
    (site.mount / "behind").write_text("x")
    assert layout_of(site, "behind").stripe_count == 1


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


def test_sizes_and_errors_of_getxattr(site: LabLustre) -> None:
    code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
open("sized", "w"); fd = os.open("sized", os.O_RDONLY)
def get(call, key, size):
    buffer = ctypes.create_string_buffer(max(size, 1))
    got = getattr(libc, call)(key, b"lustre.lov", buffer, size)
    return [got, errno.errorcode.get(ctypes.get_errno()) if got < 0 else None]
os.symlink("sized", "link")
keys = {"getxattr": b"sized", "lgetxattr": b"sized", "fgetxattr": fd}
answer = {call: [get(call, key, size) for size in (0, 55, 56, 4096)] for call, key in keys.items()}
answer["link"] = get("getxattr", b"link", 0)
answer["the link itself"] = get("lgetxattr", b"link", 0)[0]
answer["absent"] = get("getxattr", b"nothing", 0)
answer["bad fd"] = get("fgetxattr", 999, 0)
answer["path fd"] = get("fgetxattr", os.open("sized", os.O_PATH), 0)
"""
    answer = child(site, code)
    for call in ("getxattr", "lgetxattr", "fgetxattr"):
        assert answer[call] == [[56, None], [-1, "ERANGE"], [56, None], [56, None]]
    assert answer["link"] == [56, None]
    assert answer["the link itself"] == -1
    assert answer["absent"] == [-1, "ENOENT"]
    assert answer["bad fd"] == [-1, "EBADF"]


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


def test_listing_shows_lustre_lov_and_copies_take_no_objects_along(site: LabLustre) -> None:
    in_lab(site, "echo x > original; lfs path2fid original; cp -a original copy; cp -a . ../all")
    names = child(site, "answer = [os.listxattr(n) for n in ('original', 'copy')]")
    assert names == [["lustre.lov"], ["lustre.lov"]]
    assert set(objects(layout_of(site, "original"))).isdisjoint(objects(layout_of(site, "copy")))
    shutil.rmtree(site.state_dir / "all")


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


def test_statfs_says_lustre_on_the_mount_only(site: LabLustre) -> None:
    done = in_lab(site, f"stat -f -c %t . {site.mount} {site.state_dir} /")
    here, mount, *others = done.stdout.split()
    assert (here, mount) == ("bd00bd0", "bd00bd0")
    assert "bd00bd0" not in others


def test_R1_renameat2_takes_no_flag_on_the_mount(site: LabLustre, tmp_path: Path) -> None:
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def rename(source, target, flags):
    done = libc.renameat2(-100, os.fsencode(source), -100, os.fsencode(target), flags)
    return errno.errorcode[ctypes.get_errno()] if done < 0 else None
for name in ("r-source", "r-taken", {str(tmp_path / "a")!r}):
    open(name, "w").close()
answer = [rename("r-source", name, flag) for flag in (1, 2) for name in ("r-absent", "r-taken")]
answer += [rename("r-nothing", "r-absent", 1), rename("r-source", "r-moved", 0)]
answer += [rename({str(tmp_path / "a")!r}, {str(tmp_path / "b")!r}, 1)]
"""
    assert child(site, code) == ["EINVAL", "EEXIST", "ENOENT", "EINVAL", "ENOENT", None, None]


def test_R1_publishing_on_the_mount_has_one_winner_and_no_second_name(site: LabLustre) -> None:
    code = """
from pathlib import Path
from vas_core.errors import VasError
from vas_layout.publish import publish
Path("p-one").write_text("one"); Path("p-two").write_text("two")
publish(Path("p-one"), Path("p-final"))
try:
    publish(Path("p-two"), Path("p-final"))
    answer = "replaced"
except VasError as refused:
    answer = [refused.what, sorted(path.name for path in Path(".").glob("p-*"))]
answer = [answer, Path("p-final").read_text(), os.stat("p-final").st_nlink]
"""
    refused, content, links = child(site, code)
    assert "exist" in refused[0].lower()
    assert (refused[1], content, links) == (["p-final", "p-two"], "one", 1)


def test_o_tmpfile_is_refused(site: LabLustre) -> None:
    code = "answer = fails(os.open, '.', os.O_TMPFILE | os.O_RDWR)"
    assert child(site, code) in ("EOPNOTSUPP", "ENOTSUP")


def test_many_processes_never_share_an_object(site: LabLustre) -> None:
    (site.mount / "crowd").mkdir()
    code = f"for i in range(100): open('{site.mount}/crowd/%d-%d' % (os.getpid(), i), 'w').close()"
    in_lab(site, f'for k in 1 2 3 4; do {sys.executable} -c "import os\n{code}" & done; wait')
    layouts = [os.getxattr(path, "user.lustre.lov") for path in (site.mount / "crowd").iterdir()]
    fids = [fid for raw in layouts for fid in objects(decode(raw))]
    assert len(fids) == len(set(fids)) == 400


@pytest.mark.unhurried
def test_without_an_mds_creating_fails_and_never_pretends(start: Callable[..., LabLustre]) -> None:
    lab = start()
    in_lab(lab, "echo x > before")
    (lab.state_dir / "mds.sock").unlink()
    code = """
answer = [lov("before"), fails(open, "after", "w"), fails(open, "before", "a")]
os.mknod("made")
answer += [fails(os.setxattr, "made", "lustre.lov", b"x" * 32)]
"""
    raw, created, appended, set_ = child(lab, code)
    assert objects(decode(bytes.fromhex(raw)))
    assert (created, appended, set_) == ("EIO", None, "EIO")
    done = in_lab(lab, "lfs setstripe -c 1 new", check=False)
    assert done.status != 0
    assert done.stderr


def test_a_read_only_file_can_be_created(site: LabLustre) -> None:
    code = "os.close(os.open('ro', os.O_CREAT | os.O_WRONLY, 0o400)); answer = lov('ro')"
    assert objects(decode(bytes.fromhex(child(site, code))))
    assert stat.S_IMODE((site.mount / "ro").stat().st_mode) == 0o400


def test_no_compiler_is_said_with_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotHere, match=r"C compiler.*install gcc"):
        libc.build(tmp_path)
