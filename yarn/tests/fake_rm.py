"""A ResourceManager's web interface, in a thread: only what the janitor asks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class FakeRm:
    """What it answers; a test sets it."""

    def __init__(self) -> None:
        self.url = ""
        self.now = 1_800_000_000
        """Its clock, Unix seconds."""
        self.ha_state = "ACTIVE"
        self.apps: dict[str, dict[str, object] | int] = {}
        """Application -> what it answers, or an HTTP status."""
        self.asked: list[str] = []
        self.infos_left: int | None = None
        """How often it still says that it is active; None: always."""

    def over(self, job: str, hours_ago: float, state: str = "FINISHED") -> None:
        finished = int((self.now - hours_ago * 3600) * 1000)
        app = job.replace("job", "application")
        self.apps[app] = {"id": app, "state": state, "finishedTime": finished}

    def live(self, job: str, state: str = "RUNNING") -> None:
        app = job.replace("job", "application")
        self.apps[app] = {"id": app, "state": state, "finishedTime": 0}

    def answer(self, path: str) -> tuple[int, object]:
        if path == "/ws/v1/cluster/info":
            if self.infos_left is not None:
                self.infos_left -= 1
            is_up = self.infos_left is None or self.infos_left >= 0
            return 200, {
                "clusterInfo": {
                    "haState": self.ha_state if is_up else "STANDBY",
                    "state": "STARTED",
                }
            }
        app = path.rpartition("/")[2]
        self.asked.append(app)
        found = self.apps.get(app, 404)
        return (found, {}) if isinstance(found, int) else (200, {"app": found})


@contextmanager
def running() -> Iterator[FakeRm]:
    """One on a port of this machine."""
    rm = FakeRm()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, document = rm.answer(self.path)
            self.send_response_only(status)
            self.send_header("Date", formatdate(rm.now, usegmt=True))
            self.end_headers()
            self.wfile.write(json.dumps(document).encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    rm.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield rm
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
