"""What this machine can run, by looking: each check says what it is for and the fix."""

from __future__ import annotations

import csv
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from vas_core.process import run
from vas_core.root import Root
from vas_core.sizes import format_size

_LAB_MEMORY_BYTES = 6 << 30
_LAB_DISK_BYTES = 6 << 30


@dataclass(frozen=True)
class Finding:
    """One thing a machine has or lacks. `needed_for` names the commands that need it."""

    name: str
    ok: bool
    found: str
    needed_for: str
    fix: str

    def as_json(self) -> dict[str, object]:
        """The finding as `vas doctor --json` prints it."""
        return dict(vars(self))


@dataclass(frozen=True)
class Package:
    """A row of packages.tsv: what to install where `probe` fails."""

    probe: str
    scope: str
    debian: str
    rocky: str
    why: str


def packages() -> list[Package]:
    """The system packages VAS uses, with their Debian and Rocky 9 names."""
    text = resources.files("vas_core").joinpath("packages.tsv").read_text()
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [Package(*row) for row in csv.reader(lines, delimiter="\t")]


def examine(root: Root, state_dir: Path) -> Iterator[Finding]:
    """All findings: packages, then the kernel, then the machine, then real Lustre and KVM."""
    for package in packages():
        yield _package(package)
    yield _namespaces()
    yield _user_xattrs(state_dir)
    yield _memory(root)
    yield _disk(state_dir)
    yield _lustre(root)
    yield _kvm(root)


def _package(package: Package) -> Finding:
    needed = "every command" if package.scope == "base" else "demo, test, lab, bench"
    ok = _is_there(package.probe)
    install = f"apt-get install {package.debian} (Rocky 9: dnf install {package.rocky})"
    found = "yes" if ok else f"no: {package.why}"
    return Finding(package.probe, ok, found, needed, "" if ok else install)


def _is_there(probe: str) -> bool:
    kind, _, name = probe.rpartition(":")
    if kind == "python":
        return importlib.util.find_spec(name) is not None
    if kind == "c":
        source = f"#include <{name}>\n"
        return shutil.which("cc") is not None and (
            run(["cc", "-E", "-x", "c", "-"], stdin=source, check=False).status == 0
        )
    return shutil.which(name) is not None


def _namespaces() -> Finding:
    rootless = run(["unshare", "-Urmpnf", "true"], check=False)
    if rootless.status == 0:
        return _kernel("namespaces", True, "rootless: the lab runs in a user namespace", "")
    as_root = run(["unshare", "-mpnf", "true"], check=False)
    found = "root only" if as_root.status == 0 else rootless.stderr.strip()
    fix = "sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=1000, or run as root"
    return _kernel("namespaces", as_root.status == 0, found, fix)


def _user_xattrs(state_dir: Path) -> Finding:
    fix = "put the clone on ext4, XFS or btrfs: the lab keeps stripe layouts in user xattrs"
    with tempfile.NamedTemporaryFile(dir=state_dir) as probe:
        try:
            os.setxattr(probe.name, "user.vas.probe", b"x")
        except OSError as refused:
            return _kernel("user xattrs", False, f"{state_dir}: {refused.strerror}", fix)
    return _kernel("user xattrs", True, str(state_dir), "")


def _memory(root: Root) -> Finding:
    lines = (root.read("proc/meminfo") or "").splitlines()
    values = {key: value for key, _, value in (line.partition(":") for line in lines)}
    available = int(values.get("MemAvailable", "0 kB").split()[0]) * 1024
    ok = available >= _LAB_MEMORY_BYTES
    fix = f"free memory: a lab of four hosts wants {format_size(_LAB_MEMORY_BYTES)}"
    return _kernel("memory", ok, f"{format_size(available)} available", fix)


def _disk(state_dir: Path) -> Finding:
    free = shutil.disk_usage(state_dir).free
    ok = free >= _LAB_DISK_BYTES
    fix = f"free disk space: jars, logs and data want {format_size(_LAB_DISK_BYTES)}"
    return _kernel("disk", ok, f"{format_size(free)} free at {state_dir}", fix)


def _kernel(name: str, ok: bool, found: str, fix: str) -> Finding:
    return Finding(name, ok, found, "demo, test, lab, bench", "" if ok else fix)


def _lustre(root: Root) -> Finding:
    version = root.read("sys/fs/lustre/version")
    fix = "on a site: mount the Lustre client; in the lab a stand-in answers"
    needed = "layout show, put, fix outside the lab"
    ok = version is not None
    return Finding("Lustre client", ok, version or "no", needed, "" if ok else fix)


def _kvm(root: Root) -> Finding:
    there = root.path("dev/kvm").exists()
    fix = "on a site: enable virtualisation in the firmware and load kvm_intel or kvm_amd"
    found = "/dev/kvm (present; whether it boots a guest is not tried)" if there else "no /dev/kvm"
    return Finding("KVM", there, found, "real guests (not the lab)", "" if there else fix)
