"""The parts of the rig that need no machine: which kernel, what archive, which command lines."""

from __future__ import annotations

import lzma
import shutil
from pathlib import Path

import pytest

from vas_cluster import load_cluster, parse_cluster
from vas_core.process import run
from vas_tests.sriov import initramfs
from vas_tests.sriov.guests import SITE, site_with
from vas_tests.sriov.kernel import Kernel, newest_kernel, read_module
from vas_tests.sriov.machines import Boot, guest_argv, host_argv

RELEASES = ("6.1.0-9-amd64", "6.1.0-56-amd64", "6.12.9-cloud-amd64")
BOOT = Boot(Kernel("6.1", Path("/boot/vmlinuz-6.1")), Path("/a,b/initramfs"), {"VAS_AGENT": "/a b"})


def install(root: Path, release: str, *drivers: str) -> None:
    (root / f"vmlinuz-{release}").touch()
    for driver in drivers:
        directory = root / release / "kernel/drivers/net/ethernet/intel" / driver
        directory.mkdir(parents=True)
        (directory / f"{driver}.ko.xz").touch()


def test_the_newest_kernel_that_has_the_drivers_is_taken(tmp_path: Path) -> None:
    assert newest_kernel(tmp_path, tmp_path) is None
    for release in RELEASES:
        install(tmp_path, release, *(() if "cloud" in release else ("igb", "igbvf")))
    install(tmp_path, "6.13.0-amd64", "igb")
    found = newest_kernel(tmp_path, tmp_path)
    assert found == Kernel("6.1.0-56-amd64", tmp_path / "vmlinuz-6.1.0-56-amd64")


def test_a_compressed_module_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "igb.ko.xz").write_bytes(lzma.compress(b"code"))
    (tmp_path / "igb.ko").write_bytes(b"code")
    assert read_module(tmp_path / "igb.ko.xz") == read_module(tmp_path / "igb.ko")


@pytest.mark.machine
@pytest.mark.skipif(shutil.which("cpio") is None, reason="no cpio (package cpio)")
def test_the_archive_is_one_that_cpio_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, busybox = tmp_path / "9p.ko", tmp_path / "busybox"
    module.write_bytes(b"odd")
    busybox.write_bytes(b"program")
    monkeypatch.setattr(Kernel, "modules", lambda *_: [module])
    archive = initramfs.pack(BOOT.kernel, busybox).decode(errors="surrogateescape")
    run(["cpio", "-id", "--quiet"], stdin=archive, cwd=tmp_path)
    assert (tmp_path / "modules/order").read_text() == "9p.ko\n"
    assert (tmp_path / "modules/9p.ko").read_bytes() == b"odd"
    assert (tmp_path / "bin/busybox").read_bytes() == b"program"
    assert (tmp_path / "init").stat().st_mode & 0o777 == 0o755


def test_the_host_is_emulated_and_shares_this_machine_for_reading_only() -> None:
    argv = host_argv(BOOT, "oss1", {"oss1": 7}, "wire0", Path("/tmp/x,y"))
    text = " ".join(argv)
    assert "-accel tcg," in text
    assert "kvm" not in text
    assert "path=/,security_model=none,readonly=on" in text
    assert 'VAS_NODE=oss1" "VAS_AGENT=/a b"' in text
    assert "file:/tmp/x,,y" in argv


def test_the_guest_has_the_maps_memory_and_macs() -> None:
    guest = load_cluster(SITE).guest("vm1")
    text = " ".join(guest_argv(BOOT, guest, "0000:01:10.0", "tap0", "/dev/vport2p2"))
    assert " -m 384 " in text
    assert f"mac={guest.macs.virtio}" in text
    assert "vfio-pci,bus=slot0,host=0000:01:10.0" in text


@pytest.mark.parametrize("guests", [1, 2, 3])
def test_the_site_with_more_guests_is_a_map(guests: int) -> None:
    host = parse_cluster(site_with(guests), SITE).hosts[0]
    assert [guest.name for guest in host.guests] == ["vm1", "vm2", "vm3"][:guests]
