"""The definition that both builders read."""

from __future__ import annotations

import hashlib
import os
import re
import struct
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml

from vas_core.errors import BadInput, NotHere
from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_image.build.builder import BuildOrder, ImageBuilder, check_builder, command_of
from vas_image.build.mkosi import MkosiBuild, mkosi_argv, sandbox_files
from vas_image.check import examiner
from vas_image.definition import DEFINITION, System, read_definition


@pytest.mark.parametrize(
    ("system", "jdk", "not_there"),
    [
        (System.DEBIAN_12, "openjdk-17-jre-headless", "java-17-openjdk-headless"),
        (System.DEBIAN_13, "openjdk-21-jre-headless", "openjdk-17-jre-headless"),
        (System.ROCKY_9, "java-17-openjdk-headless", "linux-image-amd64"),
    ],
)
def test_each_system_has_its_own_packages(system: System, jdk: str, not_there: str) -> None:
    found = read_definition(system)
    assert {jdk, "cloud-init", "qemu-guest-agent"} <= set(found.packages)
    assert not_there not in found.packages
    assert "console=ttyS0" in found.kernel_command_line


def test_rocky_is_never_built_without_labels() -> None:
    text = (DEFINITION / "mkosi.conf.d/20-rocky-9.conf").read_text()
    assert "SELinuxRelabel=yes" in text.splitlines()


def test_a_line_that_is_neither_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mkosi.conf").write_text("[Content]\nPackages\n")
    with pytest.raises(BadInput, match=r"mkosi.conf:2: is neither"):
        read_definition(System.DEBIAN_12, tmp_path)


def test_a_key_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "mkosi.conf").write_text("[Content]\nPackages=a\n  b\n# c\n  d\n")
    with pytest.raises(BadInput, match="KernelCommandLine"):
        read_definition(System.DEBIAN_12, tmp_path)


def argv(system: System, builder: ImageBuilder, mirror: str | None = None) -> list[str]:
    return command_of(BuildOrder(system, builder, Path("/o"), mirror), Path("/tree"), Path("/made"))


def test_the_quick_way_has_the_definitions_packages() -> None:
    words = argv(System.DEBIAN_13, ImageBuilder.QUICK)
    include = next(word for word in words if word.startswith("--include="))
    assert include == "--include=" + ",".join(read_definition(System.DEBIAN_13).packages)
    assert words[-2:] == ["trixie", "/dev/null"]


def test_a_mirror_may_have_the_pinned_date_in_it() -> None:
    for builder in ImageBuilder:
        words = argv(System.DEBIAN_12, builder, "https://mirror.example/{snapshot}/debian")
        assert any("mirror.example/20261115T000000Z/debian" in word for word in words)


def whole(
    mirror: str | None, security: str | None = None, *, tools: Path | None = None
) -> MkosiBuild:
    return MkosiBuild(
        System.DEBIAN_12, Path("t"), Path("/w/o"), Path("/w/s"), mirror, security, tools
    )


def test_mkosi_takes_packages_from_the_mirrors_alone() -> None:
    assert sandbox_files(whole(None)) == {}
    assert not any("sandbox" in word for word in mkosi_argv(whole(None)))
    given = whole("http://m/debian", "http://m/security")
    ((path, text),) = sandbox_files(given).items()
    assert path.name == "mkosi.sources"
    fields = [line.split(": ") for line in text.splitlines() if line]
    assert [one[1] for one in fields if one[0] == "URIs"] == [
        "http://m/debian",
        "http://m/security",
    ]
    assert [one[1] for one in fields if one[0] == "Suites"] == ["bookworm", "bookworm-security"]
    assert "\n\n" in text, "two paragraphs"
    assert "--sandbox-tree=/w/s:/" in mkosi_argv(given)


def test_security_updates_are_pinned_too() -> None:
    mirrors = ("http://m/{snapshot}/debian", "http://m/{snapshot}/security")
    order = BuildOrder(System.DEBIAN_12, ImageBuilder.QUICK, Path("/o"), *mirrors)
    words = command_of(order, Path("/tree"), Path("/made"))
    assert words[-2] == "http://m/20261115T000000Z/debian"
    assert words[-1].endswith("http://m/20261115T000000Z/security bookworm-security main")


def test_mkosi_may_be_that_of_a_tree() -> None:
    assert mkosi_argv(whole(None))[0] == "mkosi"
    words = mkosi_argv(whole(None, tools=Path("/trixie")))
    assert words[:2] == ["env", "PYTHONPATH=/trixie/usr/lib/python3/dist-packages"]
    assert "--tools-tree=/trixie" in words


@pytest.mark.machine
@pytest.mark.parametrize(("version", "refused"), [("25.3", False), ("14", True), ("none", True)])
def test_an_older_mkosi_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, refused: bool
) -> None:
    mkosi = tmp_path / "mkosi"
    mkosi.write_text(f"#!/bin/sh\necho mkosi {version}\n")
    mkosi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    order = BuildOrder(System.DEBIAN_12, ImageBuilder.MKOSI, tmp_path / "image")
    with pytest.raises(NotHere, match="--tools-tree") if refused else nullcontext():
        check_builder(order)


def test_security_updates_of_a_mirror_want_the_mirror() -> None:
    order = BuildOrder(System.DEBIAN_12, ImageBuilder.QUICK, Path("/o"), security_mirror="http://m")
    with pytest.raises(BadInput, match="--mirror"):
        check_builder(order)


def test_rocky_needs_mkosi() -> None:
    with pytest.raises(BadInput, match="--builder mkosi"):
        argv(System.ROCKY_9, ImageBuilder.QUICK)
    assert "--distribution=rocky" in argv(System.ROCKY_9, ImageBuilder.MKOSI)


def test_a_tree_whose_name_a_hook_would_split_is_refused() -> None:
    order = BuildOrder(System.DEBIAN_12, ImageBuilder.QUICK, Path("/o"), None)
    with pytest.raises(BadInput, match="blanks or quotes"):
        command_of(order, Path("/a b"), Path("/made"))


def key_store(times: list[int]) -> bytes:
    """A store of certificates as Java writes it (JKS, version 2), each entry of another time."""
    data = struct.pack(">III", 0xFEEDFEED, 2, len(times))
    for number, at in enumerate(times):
        alias, certificate = f"debian:{number}".encode(), bytes([number]) * (300 + number)
        data += struct.pack(">IH", 2, len(alias)) + alias + struct.pack(">QH", at, 5) + b"X.509"
        data += struct.pack(">I", len(certificate)) + certificate
    secret = "changeit".encode("utf-16-be") + b"Mighty Aphrodite"
    return data + hashlib.sha1(secret + data).digest()


@pytest.mark.machine
def test_javas_certificates_have_no_time_of_their_own(tmp_path: Path) -> None:
    script = (DEFINITION / "mkosi.postinst.chroot").read_text()
    program = script.partition("<<'PYTHON'\n")[2].partition("\nPYTHON\n")[0]
    for name, times in (("a", [1, 2, 3]), ("b", [7, 8, 9])):
        (tmp_path / name).write_bytes(key_store(times))
        run([sys.executable, "-c", program, tmp_path / name, "60"])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == key_store([60000] * 3)
    (tmp_path / "a").write_bytes(b"0" * 100)  # PKCS 12, or whatever comes next
    run([sys.executable, "-c", program, tmp_path / "a", "60"])
    assert (tmp_path / "a").read_bytes() == b"0" * 100


def test_the_archive_of_classes_is_of_the_class_path_that_the_role_looks_for() -> None:
    """Else the role would build it again at the first run, and `vas image check` report it."""
    script = (DEFINITION / "mkosi.postinst.chroot").read_text()
    (of_image,) = re.findall(r"cds build --directory (\S+) \\\n +--classpath '(.*)'", script)
    file = REPOSITORY / "ansible/roles/hadoop/vars/main.yml"
    role = yaml.safe_load(file.read_text())
    directory = role["__vas_hadoop_directory"]
    jars = role["__vas_hadoop_class_path"].strip().partition(":")[2]
    of_role = jars.replace("{{ __vas_hadoop_directory }}", directory)
    assert of_image == (role["__vas_hadoop_archive_of_classes"], of_role)
    assert ("--directory", of_image[0], "--classpath", of_image[1]) == examiner.CLASSES


@pytest.mark.machine
def test_no_jar_of_the_archive_gets_another_time_later(tmp_path: Path) -> None:
    """The builders set younger files back to the epoch, and the JVM compares the times."""
    script = (DEFINITION / "mkosi.postinst.chroot").read_text()
    start = script.index("    find -H /usr/lib/vas/hadoop")
    setting = script[start : script.index("    JAVA_HOME=", start)]
    files = [tmp_path / f"usr/lib/vas/{name}" for name in ("hadoop/a.jar", "plugins/b.jar")]
    java = tmp_path / "usr/lib/jvm/java-17/lib/modules"
    for file in (*files, java):
        file.parent.mkdir(parents=True)
        file.touch()
    (tmp_path / "usr/lib/vas/java").symlink_to(java.parents[1])
    os.utime(files[0], (1, 1))
    own = setting.replace("/usr/", f"{tmp_path}/usr/")
    run(["sh", "-euc", own], env={**os.environ, "SOURCE_DATE_EPOCH": "1000"})
    assert [int(file.stat().st_mtime) for file in (*files, java)] == [1, 1000, 1000]
