"""vas-shuffled's tests under AddressSanitizer: its unsafe code, and that of the crates below it.

It needs a nightly compiler of rustup's (`rustup toolchain install nightly`); without one it is
skipped. RDMA's unsafe code runs as far as it does without a device. Left out are tests of what the
sanitizer changes itself: it locks no memory, and opens files of its own, which a filter refuses.
"""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from vas_core.repository import REPOSITORY

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(1800),
]
_TARGET = "x86_64-unknown-linux-gnu"
_CHANGED = ("locked::", "confine::", "a_daemon_that_may_write_no_byte")


def nightly() -> list[str]:
    """The words that start a nightly cargo; skips the test where there is none."""
    if (rustup := shutil.which("rustup")) is None:
        pytest.skip("no rustup")
    words = [rustup, "run", "nightly", "cargo"]
    if subprocess.run([*words, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("no nightly compiler")
    return words


def test_no_test_reads_or_writes_what_it_must_not() -> None:
    manifest = str(REPOSITORY / "shuffled/Cargo.toml")
    where = ["--manifest-path", manifest, "--target", _TARGET]
    environment = os.environ | {
        "RUSTFLAGS": "-Zsanitizer=address",
        "CARGO_TARGET_DIR": str(REPOSITORY / "build/sanitized"),
    }
    left_out = [word for name in _CHANGED for word in ("--skip", name)]
    argv = [*nightly(), "test", "--locked", *where, "--", *left_out]
    ran = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-5000:]
    assert "AddressSanitizer" not in ran.stderr
    assert "test result: ok" in ran.stdout
