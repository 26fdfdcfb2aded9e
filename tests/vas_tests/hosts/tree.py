"""The file tree that all hosts are started from: Debian 12, made once, then never written to."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vas_core.process import run
from vas_core.repository import REPOSITORY

_BUILD = REPOSITORY / "build" / "hosts"
# What a storage server has before VAS comes: a minimal Debian that one can log in to.
_PACKAGES = (
    *("systemd-sysv", "dbus", "openssh-server", "sudo", "python3", "iproute2", "procps"),
    *("ca-certificates", "kmod", "less"),
    *("libvirt-daemon-system", "libvirt-clients", "libvirt-daemon-driver-qemu"),
    "qemu-system-x86",
)
# What roles install, and what makes a machine of a host. Hosts reach no mirror: apt finds these in
# its cache.
_CACHED = (
    *("python3-venv", "openjdk-17-jre-headless", "chrony", "qemu-utils", "ovmf"),
    *("iperf3", "fio", "udev", "prometheus-node-exporter"),
)
_TIMEOUT_SECONDS = 600


def tree() -> Path:
    """Returns the directory of the hosts' file tree; makes it first (a minute) if it is missing.

    Raises CommandFailed if mmdebstrap fails.
    """
    known = hashlib.sha256(repr((_PACKAGES, _CACHED)).encode()).hexdigest()[:12]
    made = _BUILD / f"debian-12-{known}"
    _BUILD.mkdir(parents=True, exist_ok=True)
    with _locked(_BUILD / "lock"):
        if not made.exists():
            _make(made)
    return made


def _make(made: Path) -> None:
    unfinished = made.with_name(f".{made.name}.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    download = "apt-get -q -y --no-install-recommends --download-only install"
    argv = [
        *("mmdebstrap", "--mode=root", "--variant=apt", f"--include={','.join(_PACKAGES)}"),
        *("--skip=cleanup/apt", "--aptopt=Apt::Install-Recommends false"),
        f'--customize-hook=chroot "$1" {download} {" ".join(_CACHED)}',
        # Each host makes keys and an identity of its own.
        '--customize-hook=rm -f "$1"/etc/ssh/ssh_host_*; : >"$1/etc/machine-id"',
        *("bookworm", str(unfinished)),
    ]
    run(argv, timeout_seconds=_TIMEOUT_SECONDS)
    unfinished.rename(made)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
