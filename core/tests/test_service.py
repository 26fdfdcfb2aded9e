"""Where Prometheus asks a daemon."""

from __future__ import annotations

import os
import socket
import threading
import time
from urllib.request import urlopen

import pytest
from prometheus_client import CollectorRegistry, Gauge

from vas_core.errors import BadInput, VasError
from vas_core.service import MOST_CONNECTIONS, OFF, serve_metrics


def registry() -> CollectorRegistry:
    made = CollectorRegistry()
    Gauge("vas_answer", "of everything", registry=made).set(42)
    return made


def free_port(family: socket.AddressFamily, address: str) -> int:
    with socket.socket(family) as listening:
        listening.bind((address, 0))
        return int(listening.getsockname()[1])


@pytest.mark.parametrize(
    ("family", "address", "written"),
    [(socket.AF_INET, "127.0.0.1", "127.0.0.1"), (socket.AF_INET6, "::1", "[::1]")],
)
def test_it_answers(
    family: socket.AddressFamily,
    address: str,
    written: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    try:
        at = f"{written}:{free_port(family, address)}"
    except OSError:
        pytest.skip(f"this machine has no {address}")
    serve_metrics(registry(), at)
    with urlopen(f"http://{at}/metrics", timeout=10) as answer:
        assert "vas_answer 42.0" in answer.read().decode()
    assert capfd.readouterr().err == ""


def test_an_address_that_is_not_there_yet_does_not_stop_a_daemon() -> None:
    """192.0.2.1 is nobody's (RFC 5737): a leg that is down is as good as that."""
    port = free_port(socket.AF_INET, "127.0.0.1")
    with socket.socket() as plain, pytest.raises(OSError, match="Cannot assign requested address"):
        plain.bind(("192.0.2.1", port))
    serve_metrics(registry(), f"192.0.2.1:{port}")


def test_a_port_that_is_taken_is_an_error() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        at = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(VasError, match="cannot be bound: Address already in use"):
            serve_metrics(registry(), at)


@pytest.mark.parametrize("at", ["9213", "127.0.0.1", ":9213", "here:9213", "::1", "127.0.0.1:x"])
def test_what_is_no_address_is_bad_input(at: str) -> None:
    with pytest.raises(BadInput, match=r"is not an ADDRESS:PORT"):
        serve_metrics(registry(), at)


def test_off_is_off() -> None:
    serve_metrics(registry(), OFF)


def test_connections_that_say_nothing_cost_a_bounded_number_of_threads_and_no_scrape() -> None:
    """Without a bound each holds a thread and one of the daemon's 1,024 descriptors."""
    threads, descriptors = threading.active_count(), len(os.listdir("/proc/self/fd"))
    at = ("127.0.0.1", free_port(socket.AF_INET, "127.0.0.1"))
    serve_metrics(registry(), f"{at[0]}:{at[1]}")
    silent = [socket.create_connection(at, timeout=10) for _ in range(4 * MOST_CONNECTIONS)]
    try:
        with urlopen(f"http://{at[0]}:{at[1]}/metrics", timeout=10) as answer:
            assert "vas_answer 42.0" in answer.read().decode()
        most, until = MOST_CONNECTIONS + 1, time.monotonic() + 10
        while threading.active_count() > threads + most and time.monotonic() < until:
            os.sched_yield()
        assert threading.active_count() <= threads + most
        assert len(os.listdir("/proc/self/fd")) <= descriptors + len(silent) + most
    finally:
        for connection in silent:
            connection.close()
