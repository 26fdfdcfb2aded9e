"""The guests' image: built, looked into, booted; and a spoiled one is found out.

It is the quick one of Debian 12; `VAS_GUEST_IMAGE=DIRECTORY` gives another, of either builder.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from vas_core.cli import run_command
from vas_core.process import run
from vas_image.image import BILL, DISK, read_image, write_image
from vas_image.look.disk import root_offset

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(3600),
]


def broken(directory: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    status = run_command(["image", "inspect", str(directory), "--json"])
    rules = json.loads(capsys.readouterr().out)["rules"]
    names = [rule["name"] for rule in rules if not rule["ok"]]
    assert status == (3 if names else 0)
    return names


def test_nothing_in_it_is_secret(guest_image: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert broken(guest_image, capsys) == []


def test_its_bill_names_packages_jars_and_wheels(guest_image: Path) -> None:
    bill = json.loads((guest_image / BILL).read_text())
    kinds = {component["purl"].partition("/")[0] for component in bill["components"]}
    assert kinds == {"pkg:deb", "pkg:maven", "pkg:pypi"}


def test_it_boots_and_its_node_manager_is_healthy(
    guest_image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    console = tmp_path / "console"
    status = run_command(["image", "check", str(guest_image), "--console", str(console)])
    said = capsys.readouterr().out
    assert status == 0, said + console.read_text(errors="replace")[-3000:]


def test_built_again_it_is_the_same(guest_image: Path) -> None:
    image = read_image(guest_image)
    if image.builder != "quick":
        pytest.skip("a disk of mkosi's has no digest of its tree")
    again = guest_image.with_name(f"{guest_image.name}-again")
    shutil.rmtree(again, ignore_errors=True)
    words = ["image", "build", "--builder", "quick", "--system", image.system]
    assert run_command([*words, "--output", str(again)]) == 0
    if (again / BILL).read_text() != (guest_image / BILL).read_text():
        pytest.skip("the mirror has other packages by now")
    assert read_image(again).tree_digest == image.tree_digest


def test_a_spoiled_image_is_found_out(
    guest_image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoiled = tmp_path / "spoiled"
    shutil.copytree(guest_image, spoiled)
    raw, key = tmp_path / "raw", tmp_path / "key"
    run(["qemu-img", "convert", "-O", "raw", guest_image / DISK, raw])
    key.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    root = f"{raw}?offset={root_offset(raw)}"
    for request in (f"write {key} /etc/ssh/ssh_host_rsa_key", "rm /etc/machine-id"):
        run(["debugfs", "-w", "-R", request, root])
    run(["qemu-img", "convert", "-O", "qcow2", raw, spoiled / DISK])
    found = ["machine-id is empty", "no SSH host key", "no private key"]
    assert broken(spoiled, capsys) == [f"{DISK} is whole", *found]
    write_image(spoiled, read_image(spoiled))
    assert broken(spoiled, capsys) == found
