"""The definition that both builders read."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_core.errors import BadInput
from vas_image.build import Builder, Order, command_of
from vas_image.definition import System, read_definition


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


def test_a_line_that_is_neither_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mkosi.conf").write_text("[Content]\nPackages\n")
    with pytest.raises(BadInput, match=r"mkosi.conf:2: is neither"):
        read_definition(System.DEBIAN_12, tmp_path)


def test_a_key_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "mkosi.conf").write_text("[Content]\nPackages=a\n  b\n# c\n  d\n")
    with pytest.raises(BadInput, match="KernelCommandLine"):
        read_definition(System.DEBIAN_12, tmp_path)


def argv(system: System, builder: Builder, mirror: str | None = None) -> list[str]:
    return command_of(Order(system, builder, Path("/o"), mirror), Path("/tree"), Path("/made"))


def test_the_quick_way_has_the_definitions_packages() -> None:
    words = argv(System.DEBIAN_13, Builder.QUICK)
    include = next(word for word in words if word.startswith("--include="))
    assert include == "--include=" + ",".join(read_definition(System.DEBIAN_13).packages)
    assert words[-2:] == ["trixie", "/dev/null"]


def test_a_mirror_may_have_the_pinned_date_in_it() -> None:
    for builder in Builder:
        words = argv(System.DEBIAN_12, builder, "https://mirror.example/{snapshot}/debian")
        assert any("mirror.example/20261115T000000Z/debian" in word for word in words)


def test_rocky_needs_mkosi() -> None:
    with pytest.raises(BadInput, match="--builder mkosi"):
        argv(System.ROCKY_9, Builder.QUICK)
    assert "--distribution=rocky" in argv(System.ROCKY_9, Builder.MKOSI)


def test_a_tree_whose_name_a_hook_would_split_is_refused() -> None:
    order = Order(System.DEBIAN_12, Builder.QUICK, Path("/o"), None)
    with pytest.raises(BadInput, match="blanks or quotes"):
        command_of(order, Path("/a b"), Path("/made"))
