"""A release's directory: sums, bills, and what happens when a part cannot be built."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from shutil import which

import pytest

from vas_core.cli import run_command
from vas_core.errors import BadInput, NotHere, VasError
from vas_core.process import run
from vas_core.sbom import SbomComponent
from vas_release.artefact import Artefact, ReleaseFile
from vas_release.built_parts import check_fresh, shaded_libraries
from vas_release.parts import all_parts, chosen_parts
from vas_release.release import make_release
from vas_release.source import ReleaseSource

QUICK = ["source", "docs", "man", "wheel", "collection"]
_LIBRARY = SbomComponent("pypi", "click", "8", sha256="0" * 64)


def step(_name: str) -> AbstractContextManager[None]:
    return nullcontext()


def part(name: str, *files: ReleaseFile) -> Artefact:
    """A part that writes its name into each of its files."""

    def build(_source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
        for file in files:
            made = directory / file.path
            made.write_text(name)
            yield ReleaseFile(made, file.components)

    return Artefact(name, name, name, 1, build)


def broken(_source: ReleaseSource, _directory: Path) -> Iterator[ReleaseFile]:
    raise NotHere("is not built")


@pytest.fixture
def source(tmp_path: Path) -> ReleaseSource:
    return ReleaseSource(tmp_path, "1.2", "c" * 40, 1000)


def test_every_file_has_its_sum_and_its_bill(tmp_path: Path, source: ReleaseSource) -> None:
    parts = [
        part("b", ReleaseFile(Path("b.jar"), (_LIBRARY,))),
        part("a", ReleaseFile(Path("a.tar"), None)),
    ]
    out = tmp_path / "new" / "out"
    files = make_release(source, parts, out, step)
    assert [file.name for file in files] == ["a.tar", "b.jar", "b.jar.cdx.json"]
    sums = dict(line.split("  ")[::-1] for line in (out / "SHA256SUMS").read_text().splitlines())
    assert sums == {
        name: hashlib.sha256((out / name).read_bytes()).hexdigest()
        for name in ("a.tar", "b.jar", "b.jar.cdx.json")
    }
    bill = json.loads((out / "b.jar.cdx.json").read_text())
    subject = bill["metadata"]["component"]
    assert (subject["name"], subject["version"]) == ("b.jar", "1.2")
    assert subject["hashes"] == [{"alg": "SHA-256", "content": sums["b.jar"]}]
    assert [one["purl"] for one in bill["components"]] == ["pkg:pypi/click@8"]
    assert out.stat().st_mode & 0o777 == 0o755


def test_a_release_is_whole_or_not_there(tmp_path: Path, source: ReleaseSource) -> None:
    out = tmp_path / "out"
    parts = [part("a", ReleaseFile(Path("a"))), Artefact("b", "b", "b", 1, broken)]
    with pytest.raises(NotHere):
        make_release(source, parts, out, step)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_beside_other_files(tmp_path: Path, source: ReleaseSource) -> None:
    (tmp_path / "old.whl").touch()
    with pytest.raises(BadInput, match="is not an empty directory; name a directory that is new"):
        make_release(source, [], tmp_path, step)


def test_parts_are_chosen_by_name_in_the_order_of_the_build() -> None:
    parts = all_parts(["3.11"])
    usual = [one.name for one in chosen_parts(parts, [], set())]
    assert "dependencies" not in usual and usual[:2] == ["source", "docs"]
    some = chosen_parts(parts, ["wheel", "docs"], {"dependencies"})
    assert [one.name for one in some] == ["docs", "wheel", "dependencies"]
    with pytest.raises(BadInput, match=r"^weel: is not a part of a release; did you mean wheel\?"):
        chosen_parts(parts, ["weel"], set())


@pytest.mark.machine
@pytest.mark.unhurried
@pytest.mark.skipif(not which("dpkg-deb"), reason="no dpkg-deb")
def test_a_part_without_its_program_is_left_out_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for program in ("git", "dpkg-deb"):
        (tmp_path / program).symlink_to(which(program) or "")
    monkeypatch.setenv("PATH", str(tmp_path))
    words = ["release", "--uncommitted", "--dry-run", "--json", "--out", str(tmp_path / "out")]
    assert run_command(words) == 0
    said = capsys.readouterr()
    kinds = {one["part"] for one in json.loads(said.out)["parts"]} & {"deb", "node-rpm", "rpm"}
    assert kinds == {"deb"}
    assert "no node-rpm: rpmbuild, which makes it, is not here\n" in said.err
    assert run_command([*words, "--only=wheel"]) == 0
    assert "rpmbuild" not in capsys.readouterr().err
    assert run_command([*words, "--only=node-rpm"]) == 77
    assert "node-rpm: rpmbuild makes it, and is not here" in capsys.readouterr().err


def test_a_shaded_library_has_the_lock_s_version_and_sum() -> None:
    pom = "<include>org.vas:*</include><include>org.a.b:c-d</include>"
    lock = f"{'1' * 64}  org/a/b/c-d/3.2/c-d-3.2.jar\n{'2' * 64}  org/a/b/c/1/c-1.jar\n"
    assert list(shaded_libraries(pom, lock)) == [
        SbomComponent("maven", "c-d", "3.2", sha256="1" * 64)
    ]
    with pytest.raises(VasError, match="c-d: the lock has 0 versions, not 1"):
        list(shaded_libraries(pom, ""))


def test_a_build_older_than_its_source_is_refused(source: ReleaseSource) -> None:
    with pytest.raises(NotHere, match="built: is not built; run `vas build`"):
        check_fresh(source, "built", [])
    (source.repository / "A.java").touch()
    (source.repository / "built").touch()
    check_fresh(source, "built", [Path("A.java")])
    os.utime(source.repository / "built", (1, 1))
    with pytest.raises(VasError, match=r"^A.java: has changed since the last build"):
        check_fresh(source, "built", [Path("A.java")])


@pytest.mark.machine
@pytest.mark.unhurried
def test_the_quick_parts_built_twice_are_equal_byte_by_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], strict_umask: None
) -> None:
    words = ["release", "--uncommitted", "--json", *(f"--only={name}" for name in QUICK)]
    said = []
    for name in ("one", "two"):
        assert run_command([*words, "--out", str(tmp_path / name)]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    one, two = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()}
        for name in ("one", "two")
    )
    assert one == two
    assert len(one) == 2 * len(QUICK) + 1
    run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path / "one")
