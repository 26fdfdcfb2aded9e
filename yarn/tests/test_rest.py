"""Web interfaces: the status, HTTPS and Kerberos of an answer, and what is never sent."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import requests
from web import answer, web_server

from vas_core.errors import BadInput, NotHere, VasError
from vas_yarn.resourcemanager import ResourceManagerClient
from vas_yarn.rest import NotKnown, WebServer, request_json


def client(url: str, ca: Path | None = None) -> WebServer:
    return WebServer("the ResourceManager", url, "check its log", "is it up?", ca)


def test_a_status_is_named_with_the_hint_for_it() -> None:
    def respond(request: BaseHTTPRequestHandler) -> None:
        answer(request, int(request.path[1:]), {})

    with web_server(respond) as url:
        with pytest.raises(NotKnown, match="the ResourceManager answers 404 Not Found"):
            client(url).read_json("404")
        with pytest.raises(VasError, match="answers 500 Internal Server Error; check its log"):
            client(url).read_json("500")
        with pytest.raises(VasError, match="answers 401 Unauthorized; check its log"):
            client(url).read_json("401")


def test_silence_has_the_other_hint() -> None:
    with pytest.raises(VasError, match=r"does not answer: .*refused; is it up"):
        client("http://127.0.0.1:9").read("info")
    with pytest.raises(VasError, match="the NameNode does not answer"):
        request_json("http://127.0.0.1:9/jmx?qry=x", "the NameNode")


def test_a_whole_url_is_asked_with_its_query() -> None:
    with web_server(lambda request: answer(request, 200, {"path": request.path})) as url:
        assert request_json(f"{url}/jmx?qry=a:b=c,d") == {"path": "/jmx?qry=a:b=c,d"}


def test_applications_are_asked_for_and_killed() -> None:
    asked: list[tuple[str, str, bytes]] = []

    def respond(request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        asked.append((request.command, request.path, body))
        if request.path.endswith("/nodes"):
            answer(request, 200, {"nodes": {"node": {"nodeHostName": "vm1", "state": "LOST"}}})
        elif request.path.endswith("/state"):
            answer(request, 200, {"state": "RUNNING"})
        else:
            answer(request, 200, {"app": {"applicationType": "TEZ"}})

    with web_server(respond) as url:
        manager = ResourceManagerClient.of(url)
        assert manager.nodes() == {"vm1": "LOST"}
        assert (manager.state("application_1_2"), manager.kind("application_1_2")) == (
            "RUNNING",
            "TEZ",
        )
        manager.kill("application_1_2")
    kill = ("PUT", "/ws/v1/cluster/apps/application_1_2/state", b'{"state": "KILLED"}')
    assert asked[-1] == kill


def test_a_cluster_without_nodes_has_none_and_nonsense_is_an_error() -> None:
    answers: dict[str, Any] = {"nodes": None}
    with web_server(lambda request: answer(request, 200, answers)) as url:
        assert ResourceManagerClient.of(url).nodes() == {}
        answers.clear()
        with pytest.raises(VasError, match="the ResourceManager answers without 'nodes'"):
            ResourceManagerClient.of(url).nodes()


def test_an_address_of_ipv6_is_in_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def request(_: object, method: str, url: str, **__: object) -> None:
        asked.append(url)
        raise requests.ConnectionError("nobody")

    monkeypatch.setattr(requests.Session, "request", request)
    for address in ("fd00::1", "rm"):
        with pytest.raises(VasError, match="nobody"):
            ResourceManagerClient.at(address).nodes()
    assert [url.partition("/ws")[0] for url in asked] == ["http://[fd00::1]:8088", "http://rm:8088"]


def test_passwords_of_the_user_are_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ann password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))

    def respond(request: BaseHTTPRequestHandler) -> None:
        answer(request, 200, {"sent": request.headers.get("Authorization")})

    with web_server(respond) as url:
        assert client(url).read_json("x").document == {"sent": None}


def test_a_file_of_certificates_that_is_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput, match=r"--ca: .*ca\.pem is not a file"):
        client("https://rm:8090", tmp_path / "ca.pem")
    monkeypatch.setenv("VAS_CA", str(tmp_path / "other.pem"))
    with pytest.raises(BadInput, match=r"\$VAS_CA: .*other\.pem is not a file"):
        client("https://rm:8090")


def _asks_for_kerberos(request: BaseHTTPRequestHandler) -> None:
    if request.headers.get("Authorization") == "Negotiate ticket":
        answer(request, 200, {"user": "ann"})
    else:
        answer(request, 401, {}, WWW_Authenticate="Negotiate")


def test_kerberos_without_its_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "requests_gssapi", None)
    with (
        web_server(_asks_for_kerberos) as url,
        pytest.raises(NotHere, match=r"asks for Kerberos.*python-kerberos\.txt"),
    ):
        client(url).read_json("info")


@pytest.mark.parametrize("ticket", ["ticket", "expired"])
def test_a_server_that_asks_for_kerberos_gets_the_ticket(
    monkeypatch: pytest.MonkeyPatch, ticket: str
) -> None:
    """With a stand-in for requests-gssapi, which this machine need not have."""

    class HTTPSPNEGOAuth:
        def __init__(self, mutual_authentication: str) -> None:
            assert mutual_authentication == "optional"

        def handle_response(self, refused: requests.Response, **options: Any) -> requests.Response:
            assert refused.content is not None
            again = refused.request.copy()
            again.headers["Authorization"] = f"Negotiate {ticket}"
            made: requests.Response = refused.connection.send(again, **options)  # type: ignore[attr-defined]
            return made

    library = ModuleType("requests_gssapi")
    library.__dict__.update(OPTIONAL="optional", HTTPSPNEGOAuth=HTTPSPNEGOAuth)
    monkeypatch.setitem(sys.modules, "requests_gssapi", library)
    with web_server(_asks_for_kerberos) as url:
        if ticket == "ticket":
            assert client(url).read_json("info").document == {"user": "ann"}
        else:
            with pytest.raises(VasError, match="401 Unauthorized: it asks for Kerberos; run"):
                client(url).read_json("info")


def test_a_redirect_to_another_server_gets_neither_cookie_nor_body_nor_ticket() -> None:
    """Cookies are for a host, whatever the port, where a job of a user may listen."""
    heard: list[str] = []

    def elsewhere(request: BaseHTTPRequestHandler) -> None:
        heard.append(request.path)
        answer(request, 401, {}, WWW_Authenticate="Negotiate")

    with web_server(elsewhere) as there:

        def respond(request: BaseHTTPRequestHandler) -> None:
            cookie, to = "hadoop.auth=secret; Path=/", request.path.strip("/")
            places = {"port": f"{there}/x", "scheme": "https://127.0.0.1/", "bad": "//[x", "": None}
            if place := places.get(to):
                answer(request, 307, {}, Set_Cookie=cookie, Location=place)
            elif to == "within":
                answer(request, 302, {}, Set_Cookie=cookie, Location="/end")
            else:
                answer(request, 200, {"cookie": request.headers.get("Cookie")})

        with web_server(respond) as url:
            for to in ("port", "scheme"):
                with pytest.raises(VasError, match=rf"{url}/{to}: sends to another server, http"):
                    client(url).read(to)
                with pytest.raises(VasError, match="name that one, if you trust it"):
                    client(url).put_json(to, {"state": "KILLED"})
            with pytest.raises(VasError):
                client(url).read("bad")
            assert client(url).read_json("within").document == {"cookie": "hadoop.auth=secret"}
    assert heard == []


def test_a_date_that_no_clock_can_hold_is_none() -> None:
    def respond(request: BaseHTTPRequestHandler) -> None:
        request.send_response_only(200)
        request.send_header("Date", "Mon, 01 Jan 99999999999999999999 00:00:00 GMT")
        request.end_headers()
        request.wfile.write(b"{}")

    with web_server(respond) as url:
        assert client(url).read("info").server_ms is None


def test_nodes_of_another_shape_are_an_error() -> None:
    with (
        web_server(lambda request: answer(request, 200, {"nodes": {"node": ["vm1"]}})) as url,
        pytest.raises(VasError, match="answers no nodeHostName as Hadoop does"),
    ):
        ResourceManagerClient.of(url).nodes()
