"""The cgroups of host, storage server and guest, of both versions, in trees of a test's own."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

import pytest

from vas_bench.interference.cgroups import made, plan, version
from vas_bench.interference.sizes import HostSizes
from vas_core.errors import NotHere, VasError
from vas_core.root import Root

SIZES = HostSizes(host_bytes=8 << 30, guest_bytes=6 << 30, files_bytes=1 << 30, guest_cpus=3)
TOP = "sys/fs/cgroup"


def tree(directory: Path, number: int) -> Root:
    """A root with the cgroup file system of a version, as far as it is looked at."""
    top = directory / TOP
    if number == 2:
        top.mkdir(parents=True)
        (top / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    else:
        for controller in ("cpu", "memory"):
            (top / controller).mkdir(parents=True)
            (top / controller / "cgroup.procs").write_text("1\n")
    return Root(directory)


@pytest.mark.parametrize("number", [1, 2])
def test_the_version_is_found(tmp_path: Path, number: int) -> None:
    assert version(tree(tmp_path, number)) == number


@pytest.mark.parametrize("controllers", [None, "", "pids", "memory pids"])
def test_without_memory_and_cpu_it_is_not_here(tmp_path: Path, controllers: str | None) -> None:
    (tmp_path / TOP).mkdir(parents=True)
    if controllers is not None:
        (tmp_path / TOP / "cgroup.controllers").write_text(controllers)
    with pytest.raises(NotHere, match="no cgroups for memory and CPU"):
        version(Root(tmp_path))


@pytest.mark.parametrize("number", [1, 2])
def test_the_host_and_the_guest_are_limited_and_the_server_is_not(number: int) -> None:
    writes = dict(plan(number, SIZES).writes)
    limits = {file: value for file, value in writes.items() if "memory." in file}
    assert sorted(map(int, limits.values())) == [6 << 30, 8 << 30]
    assert all("/server/" not in file for file in writes)
    quota = [value for file, value in writes.items() if "quota" in file or "cpu.max" in file]
    assert quota in (["300000"], ["300000 100000"])
    assert all("/guest/" in file for file in writes if "cfs" in file or "cpu.max" in file)


@pytest.mark.parametrize("number", [1, 2])
def test_directories_come_before_those_in_them(number: int) -> None:
    directories = plan(number, SIZES).directories
    for at, directory in enumerate(directories):
        assert str(Path(directory).parent) not in directories[at:]


@pytest.mark.parametrize("number", [1, 2])
def test_groups_are_made_moved_to_and_removed(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path, number)
    # The kernel's directories take their files along; a file system's do not.
    removed: list[Path] = []

    def remove(self: Path) -> None:
        if not self.exists():
            raise FileNotFoundError(errno.ENOENT, "gone")
        for file in self.iterdir():
            file.unlink()
        original(self)
        removed.append(self)

    original = Path.rmdir
    monkeypatch.setattr(Path, "rmdir", remove)
    planned = plan(number, SIZES)
    with made(root, SIZES) as groups:
        for file, value in planned.writes:
            assert root.read(file) == value
        groups.move("guest", [11, 12])
        for directory in planned.groups["guest"]:
            assert root.read(f"{directory}/cgroup.procs") == "12"
        assert not removed
    assert removed == [root.path(each) for each in reversed(planned.directories)]


def test_what_is_in_use_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(self: Path) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(Path, "rmdir", busy)
    with (
        pytest.raises(VasError, match="is another such command running"),
        made(tree(tmp_path, 2), SIZES),
    ):
        pytest.fail("it was made")


def test_without_the_right_it_is_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    root = tree(tmp_path, 2)
    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(NotHere, match="run as root"), made(root, SIZES):
        pytest.fail("it was made")


@pytest.mark.machine
def test_a_program_is_started_in_its_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree(tmp_path, 1)
    monkeypatch.setattr("vas_bench.interference.cgroups._remove", lambda *_: None)
    with made(root, SIZES) as groups:
        argv = groups.entering("server", ["printf", "%s|", "a b", "--", "$HOME"])
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout == "a b|--|$HOME|"
    for directory in plan(1, SIZES).groups["server"]:
        assert root.read(f"{directory}/cgroup.procs") == "0"
