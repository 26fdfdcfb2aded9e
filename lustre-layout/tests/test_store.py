"""Layouts of real files, over a `user.` attribute and with an `lfs` of the test's own."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

import pytest
from layout_samples import TRANSCRIPTS, VECTORS, transcript, vector

from vas_layout import requests
from vas_layout.codec import decode, encode
from vas_layout.errors import LayoutUnavailableError
from vas_layout.lfs import Lfs
from vas_layout.model import Layout, Plain
from vas_layout.reasons import unavailable
from vas_layout.store import Created, LayoutReader, XattrStore, create_with_layout

pytestmark = pytest.mark.machine

STORE = XattrStore("user.lustre.lov")
MIB = 1 << 20
ODD_NAMES = ["plain", "-dash", "new\nline", " lead", "quote's", "star*", "bad\udcff\udcfeutf"]


def _lfs(tmp_path: Path, script: str) -> Lfs:
    program = tmp_path / "lfs"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Lfs(str(program))


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_file_made_with_a_layout_has_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    created = create_with_layout(path, requests.stripes(MIB, 2, start=1), mode=0o600, store=STORE)
    assert created.adjusted == ()
    assert STORE.read(path) == created.layout
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_name_that_exists_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("mine")
    with pytest.raises(LayoutUnavailableError, match=f"{path}: exists already"):
        create_with_layout(path, requests.stripes(MIB, 2), store=STORE)
    assert path.read_text() == "mine"


class _Answers(XattrStore):
    """What a real Lustre may answer whatever one asked for."""

    answer: Layout

    def read(self, path: Path) -> Layout:
        return self.answer


def _answering(layout: Layout) -> XattrStore:
    kind = type("Answering", (_Answers,), {"answer": layout})
    store = kind("user.lustre.lov")
    assert isinstance(store, XattrStore)
    return store


def test_a_layout_that_was_ignored_is_an_error_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(LayoutUnavailableError, match="Lustre ignored the requested layout"):
        create_with_layout(
            tmp_path / "f", requests.stripes(MIB, 2), store=_answering(decode(vector("default")))
        )
    assert not (tmp_path / "f").exists()


def _setting_lfs(tmp_path: Path, name: str) -> Lfs:
    program, made = tmp_path / "lfs", VECTORS / f"{name}.bin"
    program.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        f"open('{tmp_path}/said', 'w').write(' '.join(sys.argv[1:]))\n"
        f"os.setxattr(sys.argv[-1], 'user.lustre.lov', open('{made}', 'rb').read())\n"
    )
    program.chmod(0o755)
    return Lfs(str(program))


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EPERM, None])
def test_lfs_sets_what_the_attribute_does_not(tmp_path: Path, number: int | None) -> None:
    class Unwilling(XattrStore):
        def write(self, path: Path, request: Layout) -> None:
            if number:
                raise LayoutUnavailableError("no", where=str(path), errno=number)
            os.setxattr(path, self.name, vector("S64k"))

    path = tmp_path / "f"
    created = create_with_layout(
        path,
        requests.stripes(MIB, 2, pool="fast"),
        mode=0o600,
        store=Unwilling("user.lustre.lov"),
        lfs=_setting_lfs(tmp_path, "pool-c2"),
    )
    assert created == Created(decode(vector("pool-c2")))
    assert (tmp_path / "said").read_text() == f"setstripe -S {MIB} -c 2 -p fast {path}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_lfs_sets_is_read_back_too(tmp_path: Path) -> None:
    with pytest.raises(LayoutUnavailableError, match="Lustre ignored the requested layout"):
        create_with_layout(
            tmp_path / "f",
            requests.stripes(MIB, 2, start=1),
            store=_answering(decode(vector("default"))),
            lfs=_setting_lfs(tmp_path, "default"),
        )
    assert not (tmp_path / "f").exists()


def test_what_lustre_adjusts_silently_is_told(tmp_path: Path) -> None:
    created = create_with_layout(
        tmp_path / "f",
        requests.stripes(MIB, 4, pool="fast"),
        store=_answering(decode(vector("pool-c2"))),
    )
    assert created.adjusted == ("2 stripes instead of 4",)
    without_pool = create_with_layout(
        tmp_path / "g",
        requests.stripes(4 * MIB, 2, pool="gone"),
        store=_answering(decode(vector("c2"))),
    )
    assert without_pool.adjusted == ("pool none instead of gone",)


def test_an_ordinary_file_system_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(LayoutUnavailableError, match="f: not on a Lustre file system") as refused:
        XattrStore().read(tmp_path / "f")
    assert refused.value.errno == errno.EOPNOTSUPP
    with pytest.raises(LayoutUnavailableError, match="g: not on a Lustre file system"):
        create_with_layout(tmp_path / "g", requests.stripes(MIB, 1))
    assert not (tmp_path / "g").exists()


def test_errors_of_the_kernel_name_the_path(tmp_path: Path) -> None:
    with pytest.raises(LayoutUnavailableError, match="gone: no such file or directory"):
        STORE.read(tmp_path / "gone")
    (tmp_path / "f").touch()
    with pytest.raises(LayoutUnavailableError, match="f: has no layout"):
        STORE.read(tmp_path / "f")
    os.setxattr(tmp_path / "f", "user.lustre.lov", b"\xd0\x0b\xd1\x0b")
    with pytest.raises(LayoutUnavailableError, match="f: truncated: 32 bytes needed"):
        STORE.read(tmp_path / "f")


def _refusing(number: int) -> XattrStore:
    class Refusing(XattrStore):
        def read(self, path: Path) -> Layout:
            raise LayoutUnavailableError("no", where=str(path), errno=number)

    return Refusing()


def test_lfs_is_asked_where_the_attribute_may_not_be_read(tmp_path: Path) -> None:
    lfs = _lfs(
        tmp_path,
        '[ "$*" = "getstripe -y $PWD/-f" ] || exit 4\n'
        'printf "lmm_stripe_count: 1\\nlmm_stripe_size: 65536\\nlmm_pattern: raid0\\n'
        'lmm_objects:\\n - l_ost_idx: 2\\n   l_fid: 0x1:0x2:0x0\\n"',
    )
    cwd = Path.cwd()
    os.chdir(tmp_path)
    try:
        found = LayoutReader(_refusing(errno.EACCES), lfs).read(Path("-f"))
    finally:
        os.chdir(cwd)
    assert isinstance(found, Plain)
    assert found.objects[0].ost_idx == 2
    with pytest.raises(LayoutUnavailableError, match="no"):
        LayoutReader(_refusing(errno.ENOENT), lfs).read(Path("-f"))


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "echo \"lfs: getstripe for 'x' failed\" >&2; exit 2",
            "/x: no such file or directory (lfs: ",
        ),
        ("exit 25", "/x: not on a Lustre file system"),
        ("exit 13", "/x: no permission"),
        ("echo usage; echo bad option >&2; exit 4", "/x: lfs does not take this: bad option"),
        ("echo '/x has no stripe info'", "/x: has no layout of its own"),
        ("true", "/x: has no layout of its own"),
        ("echo 'lmm_pattern: raid0'", "/x: lfs printed no stripe_count"),
        ("exit 250", "/x: lfs failed"),
    ],
)
def test_errors_of_lfs_become_ours(tmp_path: Path, script: str, message: str) -> None:
    with pytest.raises(LayoutUnavailableError) as refused:
        _lfs(tmp_path, script).getstripe(Path("/x"))
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


def test_R7_a_directory_without_a_default_has_no_layout_by_lfs_either(
    tmp_path: Path,
) -> None:
    said = transcript(TRANSCRIPTS / "lfs-2.17/dirget-nodef-y.txt")
    (tmp_path / "said").write_text(said)
    lfs = _lfs(tmp_path, f"cat {tmp_path}/said")
    with pytest.raises(LayoutUnavailableError, match="has no layout of its own") as refused:
        lfs.getstripe(Path("/x"), directory_itself=True)
    assert refused.value.errno == errno.ENODATA


def test_migrate_gives_lfs_a_list(tmp_path: Path) -> None:
    lfs = _lfs(tmp_path, f'printf "%s|" "$@" > {tmp_path}/said')
    lfs.migrate(Path("/a b\n-c"), size=MIB, count=-1, pool="fast")
    assert (
        tmp_path / "said"
    ).read_text() == "migrate|--non-block|-S|1048576|-c|-1|-p|fast|/a b\n-c|"


def test_write_says_what_it_was_asked(tmp_path: Path) -> None:
    request = requests.stripes(MIB, 2, osts=[3, 1])
    STORE.write(tmp_path, request)
    assert os.getxattr(tmp_path, "user.lustre.lov") == encode(request)


def test_pools_are_listed_without_the_file_systems_name(tmp_path: Path) -> None:
    lfs = _lfs(tmp_path, "printf 'Pools from testfs:\\ntestfs.fast\\ntestfs.s.low\\n'")
    assert lfs.pools(tmp_path) == ["fast", "s.low"]


@pytest.mark.parametrize("number", [errno.ENOTTY, errno.EOPNOTSUPP, errno.EPERM, errno.EEXIST])
def test_a_refusal_says_what_to_do(number: int) -> None:
    assert unavailable(OSError(number, "no"), "/x").hint
