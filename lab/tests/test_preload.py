"""The preloaded library, through the programs that will run in the lab."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from preloaded import child, layout_of, objects
from stand_in import in_lab

from vas_core.errors import NotHere
from vas_core.process import run
from vas_lab.lustre import libc
from vas_lab.lustre.stand_in import LabLustre
from vas_layout.codec import decode
from vas_layout.model import Plain

pytestmark = pytest.mark.machine

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


def test_listing_shows_lustre_lov_and_copies_take_no_objects_along(site: LabLustre) -> None:
    in_lab(site, "echo x > original; lfs path2fid original; cp -a original copy; cp -a . ../all")
    names = child(site, "answer = [os.listxattr(n) for n in ('original', 'copy')]")
    assert names == [["lustre.lov"], ["lustre.lov"]]
    assert set(objects(layout_of(site, "original"))).isdisjoint(objects(layout_of(site, "copy")))
    shutil.rmtree(site.state_dir / "all")


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
