"""The guests' image the quick way: built, looked into, booted; and a spoiled one is found out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from vas_core.cli import run_command
from vas_core.process import run
from vas_image.image import BILL, DISK, read_image, write_image

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


def test_a_spoiled_image_is_found_out(
    guest_image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoiled = tmp_path / "spoiled"
    shutil.copytree(guest_image, spoiled)
    raw, key = tmp_path / "raw", tmp_path / "key"
    run(["qemu-img", "convert", "-O", "raw", guest_image / DISK, raw])
    key.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    for request in (f"write {key} /etc/ssh/ssh_host_rsa_key", "rm /etc/machine-id"):
        run(["debugfs", "-w", "-R", request, raw])
    run(["qemu-img", "convert", "-O", "qcow2", raw, spoiled / DISK])
    found = ["machine-id is empty", "no SSH host key", "no private key"]
    assert broken(spoiled, capsys) == [f"{DISK} is whole", *found]
    write_image(spoiled, read_image(spoiled))
    assert broken(spoiled, capsys) == found
