"""Where the valve's metric comes from, and the daemon's other readings."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from vas_affinity.daemon.decide import DaemonState, Trial
from vas_affinity.daemon.load import Load
from vas_affinity.daemon.saved_state import read_state, write_state
from vas_affinity.daemon.settings import DEFAULT_PATH, AffinitySettings, Valve
from vas_affinity.daemon.valve import ValveMeter, first_number
from vas_affinity.placement import HostPlacement
from vas_core.errors import BadInput, VasError
from vas_core.root import Root
from vas_core.settings import read_yaml

PAGE = b"""# TYPE served_bytes counter
served_bytes_total{ost="0",op="read"} 100
served_bytes_total{ost="1",op="read"} 50
served_bytes_total{ost="1",op="write"} 7
"""


def valve(**words: Any) -> Valve:
    return Valve.model_validate({"better": "higher", **words})


@pytest.fixture
def page() -> Iterator[str]:
    """A metrics page that is served."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/metrics"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.unhurried
@pytest.mark.parametrize(
    ("labels", "value"), [({}, 157), ({"op": "read"}, 150), ({"op": "read", "ost": "1"}, 50)]
)
def test_samples_of_a_metrics_page(labels: dict[str, str], value: float, page: str) -> None:
    found = valve(prometheus=page, metric="served_bytes_total", labels=labels)
    assert ValveMeter(found).read(0) == value


def test_a_sample_that_is_not_there(page: str) -> None:
    with pytest.raises(VasError, match="no sample of none"):
        ValveMeter(valve(prometheus=page, metric="none")).read(0)


def test_infinite_is_no_reading(tmp_path: Path) -> None:
    (tmp_path / "stats").write_text("1e999\n")
    with pytest.raises(VasError, match="cannot be read: it is inf"):
        ValveMeter(valve(file=tmp_path / "stats")).read(0)


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "stats").write_text("read_bytes 12 samples\n")
    assert ValveMeter(valve(file=tmp_path / "stats")).read(0) == 12
    with pytest.raises(VasError, match="cannot be read"):
        ValveMeter(valve(file=tmp_path / "none")).read(0)


@pytest.mark.machine
def test_a_command() -> None:
    assert ValveMeter(valve(command=[sys.executable, "-c", "print(4.5)"])).read(0) == 4.5
    with pytest.raises(VasError):
        ValveMeter(valve(command=["false"])).read(0)


def test_a_counter_is_a_rate_and_may_be_reset(tmp_path: Path) -> None:
    file = tmp_path / "counter"
    meter = ValveMeter(valve(file=file, rate=True))
    rates = []
    for now, text in ((0, "100"), (2, "300"), (4, "10"), (5, "15")):
        file.write_text(text)
        rates.append(meter.read(now))
    assert rates == [None, 100, None, 5]


@pytest.mark.parametrize(("text", "number"), [("1e3", 1000), ("p99=-2.5ms", -2.5), (" 7\n", 7)])
def test_first_numbers(text: str, number: float) -> None:
    assert first_number(text) == number


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("valve: {better: higher}", "name one of command, file, prometheus"),
        ("valve: {better: higher, file: a, command: [b]}", "name one of"),
        ("valve: {better: higher, prometheus: 'http://x'}", "go together"),
        ("valve: {better: higher, prometheus: 'file:///x', metric: y}", "valve.prometheus"),
        ("valve: {file: a}", "valve.better"),
        ("color: red", "color: unknown key"),
        ("[", "not valid YAML"),
        ("valve:\n\tbetter: higher", "line 2: is indented by a tab; use blanks"),
    ],
)
def test_settings_that_are_refused(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "affinity.yaml"
    file.write_text(text)
    with pytest.raises(BadInput, match=said):
        read_yaml(file, AffinitySettings, default=DEFAULT_PATH)


def test_busy_cpus(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    load = Load(Root(tmp_path))
    found = []
    for line in ("cpu 10 0 10 70 10 0 0 0 5 5", "cpu 15 0 15 140 30 0 0 0 5 5", "cpu0"):
        (tmp_path / "proc/stat").write_text(f"{line}\n")
        found.append(load.busy())
    assert found == [1.0, pytest.approx(0.1), 1.0]


def test_what_the_next_daemon_is_to_know(tmp_path: Path) -> None:
    plan = HostPlacement(host="oss1", notes=("x",))
    state = DaemonState(in_force=plan, trial=Trial(5, 2.5), samples=((1, 2),), held_off_until=9)
    write_state(tmp_path / "state", state)
    assert read_state(tmp_path / "state") == state
    (tmp_path / "state/daemon.json").write_text("{")
    assert read_state(tmp_path / "state") is None
    assert read_state(tmp_path / "none") is None
