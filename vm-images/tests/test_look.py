"""What must hold of an image that never started."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from vas_core.errors import BadInput
from vas_core.root import Root
from vas_image.look.disk import root_offset
from vas_image.look.rules import rules

EXTRA = Path(__file__).parents[1] / "guest/mkosi.extra"


def write(root: Path, path: str, text: str = "") -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An image as it is to be."""
    write(tmp_path, "etc/machine-id")
    write(tmp_path, "etc/shadow", "root:!*:19000:0:99999:7:::\ndaemon:*:19000::::::\n")
    config = "etc/cloud/cloud.cfg.d/90-vas.cfg"
    write(tmp_path, config, (EXTRA / config).read_text())
    write(tmp_path, "usr/lib/vas/hadoop/hadoop-common-3.5.0.jar")
    write(tmp_path, "usr/lib/vas/plugins/vas-yarn-plugins-0.1.0.jar")
    write(tmp_path, "var/lib/vas/cds/hadoop.jsa")
    write(tmp_path, "var/lib/vas/cds/hadoop.json", '{\n "java": "17",\n "jars": 2\n}\n')
    wants = tmp_path / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True)
    for unit in ("vas-nodemanager.service", "vas-routed.service"):
        (wants / unit).symlink_to(f"/usr/lib/systemd/system/{unit}")
    return tmp_path


def broken(tree: Path) -> list[str]:
    return [rule.name for rule in rules(Root(tree)) if not rule.ok]


def test_an_image_as_it_is_to_be_breaks_no_rule(tree: Path) -> None:
    assert broken(tree) == []


@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        ("etc/machine-id", "0123456789abcdef0123456789abcdef\n", "machine-id is empty"),
        ("var/lib/dbus/machine-id", "", "machine-id is empty"),
        ("etc/shadow", "root:$y$j9T$abc:19000::::::\n", "nobody has a password"),
        ("etc/shadow", "root::19000::::::\n", "nobody has a password"),
        ("etc/ssh/ssh_host_rsa_key", "", "no SSH host key"),
        ("root/.ssh/authorized_keys", "ssh-rsa A", "nobody may log in by a key"),
        ("home/a/key", "-----BEGIN OPENSSH PRIVATE KEY-----\n", "no private key"),
        ("etc/hostname", "builder\n", "never started"),
        ("var/lib/cloud/instance", "", "never started"),
        ("etc/cloud/cloud.cfg.d/90-vas.cfg", "datasource_list: [Ec2]\n", "cloud-init reads"),
        ("var/lib/vas/cds/hadoop.json", '{"jars": 193}', "archive of classes"),
        ("var/lib/vas/cds/hadoop.json", "", "archive of classes"),
    ],
)
def test_each_rule_can_be_broken(tree: Path, path: str, text: str, rule: str) -> None:
    write(tree, path, text)
    (found,) = broken(tree)
    assert found.startswith(rule)


def test_a_second_jar_of_plugins_is_in_no_archive(tree: Path) -> None:
    write(tree, "usr/lib/vas/plugins/vas-yarn-plugins-0.2.0.jar")
    assert broken(tree) == ["Hadoop and the plugins", "archive of classes"]


def _without_archive(tree: Path) -> None:
    (tree / "var/lib/vas/cds/hadoop.jsa").unlink()


def _without_unit(tree: Path) -> None:
    (tree / "etc/systemd/system/multi-user.target.wants/vas-routed.service").unlink()


def _without_shadow(tree: Path) -> None:
    (tree / "etc/shadow").unlink()


def _without_machine_id(tree: Path) -> None:
    (tree / "etc/machine-id").unlink()


@pytest.mark.parametrize(
    "wants", ["multi-user.target.wants/chrony-wait.service", "sockets.target.wants/ssh.socket"]
)
def test_units_that_others_wait_for_are_not_enabled(tree: Path, wants: str) -> None:
    link = tree / "etc/systemd/system" / wants
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(f"/lib/systemd/system/{link.name}")
    assert broken(tree) == ["no unit that keeps others from starting"]
    preset = (EXTRA / "usr/lib/systemd/system-preset/10-vas.preset").read_text()
    assert f"disable {link.name}" in preset.splitlines()


@pytest.mark.parametrize(
    "take", [_without_archive, _without_unit, _without_shadow, _without_machine_id]
)
def test_what_is_missing_is_no_good_sign(tree: Path, take: Callable[[Path], None]) -> None:
    take(tree)
    assert len(broken(tree)) == 1


def _disk(path: Path, start: int, *, gpt: bool) -> Path:
    data = bytearray(start + 4096)
    if gpt:
        data[512:520] = b"EFI PART"
        struct.pack_into("<QII", data, 512 + 72, 2, 4, 128)
        struct.pack_into("<Q", data, 1024 + 32, 40)
        struct.pack_into("<Q", data, 1024 + 128 + 32, start // 512)
    data[start + 1024 + 56 : start + 1024 + 58] = b"\x53\xef"
    path.write_bytes(data)
    return path


def test_the_file_system_is_found_with_and_without_partitions(tmp_path: Path) -> None:
    assert root_offset(_disk(tmp_path / "a", 0, gpt=False)) == 0
    assert root_offset(_disk(tmp_path / "b", 1 << 20, gpt=True)) == 1 << 20
    (tmp_path / "c").write_bytes(bytes(1 << 16))
    with pytest.raises(BadInput, match="no ext4"):
        root_offset(tmp_path / "c")
