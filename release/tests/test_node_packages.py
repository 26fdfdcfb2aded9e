"""The packages of the node tools: what is in them, and what they do to a machine."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from vas_core.errors import NotHere, VasError
from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_release import program_tree, roles, scripts
from vas_release.families import DEBIAN, RED_HAT, Family
from vas_release.node_packages import NODE, NODE_TOOLS, STORAGE, NodeTools, fill
from vas_release.source import ReleaseSource
from vas_release.system_package import SystemPackage, oldest_glibc
from vas_release.tree import PackageTree

_SOURCE = ReleaseSource(REPOSITORY, "1.2.0", "c" * 40, 1_000_000_000)
_FAMILIES = [
    pytest.param(
        family,
        id=family.kind,
        marks=pytest.mark.skipif(not shutil.which(family.packer), reason=f"no {family.packer}"),
    )
    for family in (DEBIAN, RED_HAT)
]
_DEB = pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="no dpkg-deb")
_LIBRARY = b"\x7fELF a library \0GLIBC_2.17\0GLIBC_2.28\0"


def wheel(
    directory: Path, name: str, tag: str, files: Mapping[str, bytes], about: str = ""
) -> Path:
    """Writes a wheel of version 1 that holds `files`; `about` are lines of its metadata."""
    info = f"{name}-1.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n{about or 'License: MIT'}\n"
    members = dict(files) | {
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n".encode(),
    }
    members[f"{info}/RECORD"] = "".join(f"{member},,\n" for member in members).encode()
    directory.mkdir(parents=True, exist_ok=True)
    made = directory / f"{name}-1-{tag}.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return made


def wheels(directory: Path, family: Family) -> dict[str, list[Path]]:
    """Wheels for each Python of a family: one that all share, and one that is compiled."""
    found = {}
    for version in family.pythons:
        own, cp = directory / version, f"cp{version.replace('.', '')}"
        tag = f"{cp}-{cp}-manylinux2014_x86_64"
        pure = {"pure/__init__.py": b"", "pure-1.data/scripts/pure": b"#!python\n"}
        found[version] = [
            wheel(own, "pure", "py3-none-any", pure),
            wheel(own, "fast", tag, {f"fast.cpython-{cp[2:]}.so": _LIBRARY}),
        ]
    return found


def filled(directory: Path, tools: NodeTools, family: Family) -> tuple[PackageTree, SystemPackage]:
    tree = PackageTree(directory / "tree")
    package = fill(tree, tools, family, _SOURCE, wheels(directory / "wheels", family))
    return tree, package


def names(tree: PackageTree) -> set[str]:
    return {str(path.relative_to(tree.root)) for path in tree.root.rglob("*")}


@pytest.mark.machine
def test_a_node_has_the_program_units_users_preset_and_pages(tmp_path: Path) -> None:
    tree, package = filled(tmp_path, NODE, DEBIAN)
    found = names(tree)
    lib = "usr/lib/vas/python/lib"
    assert {f"{lib}/site-packages/pure", f"{lib}/python3.13/site-packages/fast.cpython-313.so"} <= (
        found
    )
    assert f"{lib}/site-packages/fast.cpython-311.so" not in found
    assert not [name for name in found if name.endswith(("/RECORD", "/INSTALLER", "/pure.py"))]
    assert {"usr/bin/vas", "usr/bin/vas-routed", "usr/lib/sysusers.d/vas.conf"} <= found
    assert {f"usr/lib/systemd/system/{unit}" for unit in package.units} <= found
    assert "vas-routed.service" in package.units and "vas-affinityd.service" not in package.units
    preset = (tree.root / "usr/lib/systemd/system-preset/50-vas-node.preset").read_text()
    assert set(preset.splitlines()[1:]) == {f"disable {unit}" for unit in package.units}
    pages = {name for name in found if name.startswith("usr/share/man/man1/")}
    assert {"usr/share/man/man1/vas-route-daemon.1.gz", "usr/share/man/man1/vas-routed.1.gz"} <= (
        pages
    )
    assert "usr/share/modules/modulefiles/vas" in found
    assert {name for name in found if name.startswith("etc/")} == {"etc/vas"}
    licences = (tree.root / "usr/share/doc/vas-node/licences.tsv").read_text()
    assert licences.splitlines()[1:] == ["fast\t1\tMIT", "pure\t1\tMIT"]


@pytest.mark.machine
def test_a_storage_server_has_the_placement_and_needs_the_node_s_package(tmp_path: Path) -> None:
    tree, package = filled(tmp_path, STORAGE, DEBIAN)
    found = names(tree)
    assert "usr/bin/vas-affinityd" in found and "usr/bin/vas" not in found
    hook = tree.root / "usr/lib/vas/libvirt/vas-affinity"
    assert hook.read_bytes() == roles.libvirt_hook().read_bytes() and hook.stat().st_mode & 0o100
    # libvirt would call it there.
    assert not [name for name in found if name.startswith("etc/")]
    assert package.depends[0] == "vas-node (= 1.2.0)"
    assert "libc6 (>= 2.28)" in package.depends
    assert set(package.suggests) == set(roles.guests_packages("Debian"))
    assert set(package.restarted) == {"vas-affinityd.service", "vas-jobstats.service"}


@pytest.mark.machine
def test_rocky_has_its_own_python_alone(tmp_path: Path) -> None:
    tree, package = filled(tmp_path, NODE, RED_HAT)
    assert (tree.root / "usr/lib/vas/python/bin/python3").readlink() == Path("/usr/bin/python3.11")
    assert not [name for name in names(tree) if "python3.12" in name]
    assert {"python3.11", "glibc >= 2.28", "iproute"} <= set(package.depends)


def test_programs_are_started_by_the_package_s_python(tmp_path: Path) -> None:
    tree, place = PackageTree(tmp_path), roles.program_directory().parent
    program_tree.add_programs(tree, place, {"vas": "vas_core.cli:main"})
    text = (tmp_path / "usr/lib/vas/python/bin/vas").read_text()
    assert text.startswith("#!/usr/lib/vas/python/bin/python3 -I\n")
    assert "from vas_core.cli import main\n" in text and text.endswith("sys.exit(main())\n")
    called = tmp_path / "usr/bin/vas"
    assert called.read_text() == text and not called.is_symlink()


@pytest.mark.machine
def test_a_library_without_a_licence_is_refused(tmp_path: Path) -> None:
    nameless = wheel(tmp_path, "nameless", "py3-none-any", {"n.py": b""}, "Author: Ann")
    tree = PackageTree(tmp_path / "tree")
    place = roles.program_directory().parent
    program_tree.add_libraries(tree, place, {"3.11": [nameless], "3.12": [nameless]})
    with pytest.raises(VasError, match="nameless: names no licence"):
        program_tree.licences(tree)


def test_a_licence_may_be_told_by_classifiers_or_in_its_file(tmp_path: Path) -> None:
    info = tmp_path / "lib/one-1.dist-info"
    info.mkdir(parents=True)
    classifier = "Classifier: License :: OSI Approved :: "
    about = f"Name: one\nVersion: 1\n{classifier}MIT License\n{classifier}BSD License\n"
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\n{about}")
    listed = program_tree.licences(PackageTree(tmp_path)).splitlines()
    assert listed[1:] == ["one\t1\tMIT License AND BSD License"]
    of_file = "Metadata-Version: 2.4\nName: one\nVersion: 1\nLicense-File: COPYING\n"
    (info / "METADATA").write_text(of_file)
    listed = program_tree.licences(PackageTree(tmp_path)).splitlines()
    assert listed[1:] == ["one\t1\tCOPYING"]


@pytest.mark.machine
@pytest.mark.parametrize("tools", NODE_TOOLS, ids=lambda tools: tools.name)
def test_scripts_enable_and_start_nothing(tmp_path: Path, tools: NodeTools) -> None:
    _, package = filled(tmp_path, tools, DEBIAN)
    lines = scripts.installed(package, "true").splitlines()
    words = {word for line in lines for word in line.replace(";", " ").split()}
    assert not words & {"enable", "start", "preset", "restart", "unmask"}
    assert ("systemd-sysusers" in words) == (tools is NODE)
    for text in (scripts.before_removal(package), scripts.after_removal(package), *lines):
        run(["sh", "-n"], stdin=text)


@_DEB
@pytest.mark.machine
@pytest.mark.unhurried
@pytest.mark.usefixtures("strict_umask")
def test_a_deb_has_no_conffile_and_belongs_to_root(tmp_path: Path) -> None:
    tree, package = filled(tmp_path, NODE, DEBIAN)
    file = DEBIAN.write(package, tree, tmp_path, _SOURCE.epoch)
    assert file.name == "vas-node_1.2.0_amd64.deb"
    control = tmp_path / "control"
    run(["dpkg-deb", "--control", file, control])
    assert {one.name for one in control.iterdir()} == {
        *("control", "md5sums"),
        *("postinst", "prerm", "postrm"),
    }
    listed = run(["dpkg-deb", "--contents", file]).stdout.splitlines()
    assert {tuple(line.split()[:2]) for line in listed} == {
        ("drwxr-xr-x", "root/root"),
        ("-rw-r--r--", "root/root"),
        ("-rwxr-xr-x", "root/root"),
        ("lrwxrwxrwx", "root/root"),
    }


@pytest.mark.machine
@pytest.mark.unhurried
@pytest.mark.parametrize("family", _FAMILIES)
def test_packages_built_twice_have_the_same_bytes(tmp_path: Path, family: Family) -> None:
    made = []
    for name in ("one", "another place"):
        tree, package = filled(tmp_path / name, STORAGE, family)
        made.append(family.write(package, tree, tmp_path / name, _SOURCE.epoch).read_bytes())
    assert made[0] == made[1]


@pytest.mark.machine
@pytest.mark.unhurried
@pytest.mark.skipif(not shutil.which("rpmbuild"), reason="no rpmbuild")
def test_an_rpm_has_the_files_and_scripts(tmp_path: Path) -> None:
    tree, package = filled(tmp_path, NODE, RED_HAT)
    expected = {f"/{name}" for name in names(tree) if not (tree.root / name).is_dir()}
    file = RED_HAT.write(package, tree, tmp_path, _SOURCE.epoch)
    listed = set(run(["rpm", "-qp", "--list", file]).stdout.splitlines())
    assert expected <= listed
    assert not listed & {"/usr", "/usr/bin", "/etc", "/usr/lib/systemd/system"}
    assert "/etc/vas" in listed
    assert run(["rpm", "-qp", "--configfiles", file]).stdout == ""
    said = run(["rpm", "-qp", "--scripts", file]).stdout
    assert "systemd-sysusers vas.conf" in said and "systemctl --no-reload disable" in said


def test_the_newest_symbol_says_which_glibc_is_needed() -> None:
    assert oldest_glibc([b"\0GLIBC_2.9\0GLIBC_2.34\0", b"GLIBC_2.4\0"]) == "2.34"
    with pytest.raises(NotHere, match="names no version of glibc"):
        oldest_glibc([b""])
