"""The progress of pip while it fetches Spark, and of any long wait."""

from __future__ import annotations

import hashlib
import os
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event

import pytest
from web import web_server

from vas_core import progress
from vas_core.process import CommandFailed
from vas_core.progress import waiting
from vas_yarn.spark.fetching import PipSteps, install_by_pip

WHEEL = "big-1-py3-none-any.whl"
NEVER = 1e6


def wait_for(file: Path, text: str) -> None:
    until = time.monotonic() + 60
    while text not in file.read_text() and time.monotonic() < until:
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are shown at once, and the next ones soon."""
    monkeypatch.setattr(progress, "_PATIENCE_SECONDS", 0)
    monkeypatch.setattr(progress, "_LINE_SECONDS", 0.01)


@contextmanager
def stderr_of(directory: Path) -> Iterator[Path]:
    """Yields the file that stderr goes to meanwhile, a line at once."""
    file = directory / "stderr"
    with file.open("w", buffering=1) as stream, redirect_stderr(stream):
        yield file


@pytest.fixture
def wheel(tmp_path: Path) -> bytes:
    """A wheel of 400 kB that no compression makes smaller."""
    file = tmp_path / WHEEL
    head = "Metadata-Version: 2.1\nName: big\nVersion: 1\n"
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("big.bin", os.urandom(400_000))
        made.writestr("big-1.dist-info/METADATA", head)
        made.writestr("big-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        made.writestr("big-1.dist-info/RECORD", "")
    return file.read_bytes()


def install(directory: Path, url: str, sha256: str) -> None:
    (directory / "bin").mkdir()
    python = directory / "bin/python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (directory / "lock").write_text(f"big==1 --hash=sha256:{sha256}\n")
    place = ("--no-index", "--find-links", url, "--no-cache-dir", "--no-deps")
    words = [*place, "--target", directory / "target", "-r", directory / "lock"]
    install_by_pip(python, words, "fetching")


@pytest.mark.machine
def test_a_download_by_pip_shows_how_much_is_there(wheel: bytes, tmp_path: Path) -> None:
    half = len(wheel) // 2

    def respond(request: BaseHTTPRequestHandler) -> None:
        page = f'<a href="/{WHEEL}">{WHEEL}</a>'.encode()
        body = wheel if request.path.endswith(".whl") else page
        kind = "application/zip" if body is wheel else "text/html"
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.send_header("Content-Type", kind)
        request.end_headers()
        request.wfile.write(body[:half])
        if body is wheel:
            wait_for(tmp_path / "stderr", f"fetching: {WHEEL}, 0.2 MB of ")
        request.wfile.write(body[half:])

    with stderr_of(tmp_path) as shown, web_server(respond) as url:
        install(tmp_path, f"{url}/", hashlib.sha256(wheel).hexdigest())
    assert f"fetching: {WHEEL}, 0.2 MB of 400 kB\n" in shown.read_text()
    assert (tmp_path / "target/big.bin").stat().st_size == 400_000
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["bin", "target"]


@pytest.mark.machine
def test_a_pip_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="No matching distribution found for big==1"):
        install(tmp_path, str(tmp_path / "nowhere"), "0" * 64)


def test_the_steps_after_a_download_are_named(tmp_path: Path) -> None:
    steps = PipSteps(tmp_path)
    assert steps.text() == "asking for the files"
    steps.hear("  Downloading https://host.example/a/pyspark-4.2.0.tar.gz (434.1 MB)")
    assert steps.text() == "pyspark-4.2.0.tar.gz, 434.1 MB"
    for line, step in {
        "  Preparing metadata (setup.py): started": "unpacked",
        "Building wheels for collected packages: pyspark": "building a wheel of it",
        "  Building wheel for pyspark (setup.py): still running...": "building a wheel of it",
        "Installing collected packages: py4j, pyspark": "installing",
    }.items():
        steps.hear(line)
        assert steps.text() == f"pyspark-4.2.0.tar.gz, {step}"


def test_a_wait_that_is_over_soon_shows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE_SECONDS", NEVER)
    with stderr_of(tmp_path) as shown, waiting("a title", lambda: "a text"):
        pass
    assert shown.read_text() == ""


def test_a_longer_wait_shows_a_line_now_and_then(tmp_path: Path) -> None:
    called, twice = [], Event()

    def text() -> str:
        called.append(len(called))
        if len(called) == 2:
            twice.set()
        return f"{len(called)} [of] 2"

    with stderr_of(tmp_path) as shown, waiting("a title", text):
        assert twice.wait(60)
    assert shown.read_text().startswith("a title: 1 [of] 2\na title: 2 [of] 2\n")
