"""Web servers that an attacker controls or took over, met by the commands that ask YARN.

The right answer: one line that names the server, status 1, nothing removed, within a minute.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from vas_tests.adversary.attack import run_vas
from vas_tests.adversary.planted import EXAMPLE, SECRET

pytestmark = [pytest.mark.machine, pytest.mark.slow, pytest.mark.nightly]

Answer = Callable[[BaseHTTPRequestHandler, Path], None]
_INFO = b'{"clusterInfo": {"haState": "ACTIVE", "state": "STARTED"}}'


def _head(request: BaseHTTPRequestHandler, status: int = 200, **headers: str) -> None:
    request.send_response_only(status)
    request.send_header("Date", formatdate(usegmt=True))
    for name, value in headers.items():
        request.send_header(name, value)
    request.end_headers()


def _endless(request: BaseHTTPRequestHandler, _: Path) -> None:
    _head(request)
    for _ in range(1 << 16):
        request.wfile.write(b"[" * (1 << 16))


def _trickle(request: BaseHTTPRequestHandler, _: Path) -> None:
    _head(request)
    for _ in range(300):
        request.wfile.write(b" ")
        request.wfile.flush()
        time.sleep(1)  # the attack itself: never long enough silent for a time-out of one read


def _to_a_file(request: BaseHTTPRequestHandler, directory: Path) -> None:
    _head(request, 302, Location=(directory / "secret").as_uri())


def _round_and_round(request: BaseHTTPRequestHandler, _: Path) -> None:
    _head(request, 302, Location=request.path)


def _nested(request: BaseHTTPRequestHandler, _: Path) -> None:
    _head(request)
    request.wfile.write(b"[" * 200_000)


def _noise(request: BaseHTTPRequestHandler, _: Path) -> None:
    request.wfile.write(b"\xff\x00" * 1000)


def _cut(request: BaseHTTPRequestHandler, _: Path) -> None:
    _head(request, **{"Content-Length": "1000"})
    request.wfile.write(_INFO[:10])


def _no_date(request: BaseHTTPRequestHandler, _: Path) -> None:
    request.send_response_only(200)
    request.end_headers()
    request.wfile.write(_INFO)


def _page(request: BaseHTTPRequestHandler, _: Path) -> None:
    _head(request)
    request.wfile.write(b"<html>Log in</html>")


ANSWERS = [
    _endless, _trickle, _to_a_file, _round_and_round, _nested, _noise, _cut, _no_date, _page,
]  # fmt: skip


@contextmanager
def _server(answer: Answer, directory: Path) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with suppress(OSError):
                answer(self, directory)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.block_on_close = True, False
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _left_over(directory: Path) -> Path:
    job = directory / "staging/ann/.staging/job_1700000000000_0001"
    (job / "shuffle/attempt_1700000000000_0001_m_000000_0").mkdir(parents=True)
    (directory / "secret").write_text(SECRET)
    return job


@pytest.mark.parametrize("answer", ANSWERS, ids=[answer.__name__[1:] for answer in ANSWERS])
def test_a_janitor_that_is_lied_to_removes_nothing(answer: Answer, tmp_path: Path) -> None:
    job = _left_over(tmp_path)
    with _server(answer, tmp_path) as url:
        words = ["shuffle", "gc", "--grace", "0s", "--staging", str(tmp_path / "staging")]
        ended = run_vas([*words, "--resourcemanager", url], tmp_path, {})
    assert ended.status == 1, ended
    assert ended.error.count("\n") == 1, ended
    assert "Traceback" not in ended.error
    assert SECRET not in ended.error + ended.out
    assert (job / "shuffle").is_dir()


@pytest.mark.parametrize(
    "answer",
    [answer for answer in ANSWERS if answer is not _no_date],
    ids=[answer.__name__[1:] for answer in ANSWERS if answer is not _no_date],
)
def test_a_history_server_that_lies_is_one_line(answer: Answer, tmp_path: Path) -> None:
    _left_over(tmp_path)
    # What a site's machine has; without it, notes say so.
    (tmp_path / "core-site.xml").write_text("<configuration/>")
    log = tmp_path / "placement.log"
    log.touch()
    with _server(answer, tmp_path) as url:
        words = ["job", "locality", "application_1700000000000_0001", "--cluster", str(EXAMPLE)]
        words += ["--history", url, "--log", str(log)]
        ended = run_vas(words, tmp_path, {"HADOOP_CONF_DIR": str(tmp_path)})
    assert ended.status == 1, ended
    assert ended.error.count("\n") == 1, ended
    assert "Traceback" not in ended.error
    assert SECRET not in ended.error + ended.out
