"""Talks to the web interfaces of Hadoop: HTTP, HTTPS, and SPNEGO (Kerberos)."""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import requests
import urllib3
from requests.auth import AuthBase
from requests.structures import CaseInsensitiveDict

from vas_core.errors import BadInput, NotHere, VasError

# Until the first byte, between any two, and in all.
_SILENCE_SECONDS = 30.0
_WHOLE_SECONDS = 45.0
# A job's list of 100,000 tasks has some 50 MB.
_MOST_BYTES = 512 << 20
_PART_BYTES = 1 << 20
# identity: a compressed answer could grow to any size.
_HEADERS = {
    "Accept": "application/json, text/plain",
    "Accept-Encoding": "identity",
    # One that is kept open may be closed by a server that restarts, just before it is used again.
    "Connection": "close",
}
_CA_VARIABLE = "VAS_CA"
# A server answered, but with what HTTP does not allow, or nobody may follow.
_NO_HTTP = (
    requests.exceptions.InvalidSchema,
    requests.exceptions.InvalidURL,
    requests.exceptions.TooManyRedirects,
)


@dataclass(frozen=True)
class WebAnswer:
    """The text a server answered, and its own clock at that moment (Unix ms; None if not sent)."""

    text: str
    server_ms: int | None


@dataclass(frozen=True)
class JsonAnswer:
    """A JSON object that a server answered, and its own clock (Unix ms; None if not sent)."""

    document: dict[str, Any]
    server_ms: int | None


class NotKnown(VasError):
    """The server does not know the thing that was asked for (404)."""


@dataclass(frozen=True)
class WebServer:
    """A web interface: its name for people, its URL, and hints for two kinds of failure.

    `refused_hint` is for an error status, `silent_hint` for a server that does not answer.
    `ca` is a file of certificates (PEM) that an HTTPS server's certificate must lead to; None is
    $VAS_CA, else the certificates that `requests` trusts. A server that asks for SPNEGO gets the
    user's Kerberos ticket, if the extra `kerberos` is installed.
    """

    name: str
    url: str
    refused_hint: str
    silent_hint: str
    ca: Path | None = None
    silence_seconds: float = _SILENCE_SECONDS
    # Keeps Hadoop's cookie, which stands for a Kerberos ticket from the second request on.
    _session: requests.Session = field(
        default_factory=lambda: _OneServer(), init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if urllib.parse.urlsplit(self.url).scheme not in ("http", "https"):
            raise BadInput(f"{self.url!r} is not a URL", hint="write it like http://rm:19888")
        _ca_file(self.ca)
        # An authentication of our own, or requests would send the user's .netrc to the server.
        self._session.auth = _Negotiate()

    def read(self, path: str) -> WebAnswer:
        """Reads a path by GET. Raises NotKnown for 404, VasError for every other failure.

        Among these: an answer of more than 512 MiB, and one that takes longer than 45 seconds.
        """
        return self._ask("GET", path)

    def read_json(self, path: str) -> JsonAnswer:
        """Reads a JSON object by GET. Raises as `read` does, and VasError for anything else."""
        return self._json(path, self.read(path))

    def put_json(self, path: str, document: Mapping[str, Any]) -> JsonAnswer:
        """Sends a JSON object by PUT and returns the answer. Raises as `read_json` does."""
        return self._json(path, self._ask("PUT", path, document))

    def _ask(self, method: str, path: str, document: Mapping[str, Any] | None = None) -> WebAnswer:
        url = self._url(path)
        try:
            with self._session.request(
                method,
                url,
                json=document,
                headers=_HEADERS,
                # Not the session's: $REQUESTS_CA_BUNDLE would win over that.
                verify=str(ca) if (ca := _ca_file(self.ca)) else True,
                timeout=self.silence_seconds,
                stream=True,
            ) as answer:
                self._refuse_status(answer, url)
                text = self._whole(answer, url).decode(errors="replace")
                return WebAnswer(text, _milliseconds(answer.headers))
        except requests.exceptions.SSLError as wrong:
            hint = f"name the file of its CA by --ca or ${_CA_VARIABLE}"
            raise VasError(
                f"{self.name} is not trusted: {_innermost(wrong)}", where=url, hint=hint
            ) from wrong
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as wrong:
            raise self._unreadable(wrong, url) from wrong

    def _unreadable(self, wrong: Exception, url: str) -> VasError:
        cause = _innermost(wrong)
        if isinstance(cause, http.client.HTTPException) or isinstance(wrong, _NO_HTTP):
            what = f"{self.name} answers no HTTP: {type(cause).__name__}"
        else:
            what = f"{self.name} does not answer: {cause}"
        return VasError(what, where=url, hint=self.silent_hint)

    def _refuse_status(self, answer: requests.Response, url: str) -> None:
        if answer.ok:
            return
        kind = NotKnown if answer.status_code == 404 else VasError
        reason = str(answer.reason).partition("\n")[0]
        what = f"{self.name} answers {answer.status_code} {reason}"
        if answer.status_code == 401 and _asks_for_kerberos(answer):
            raise VasError(f"{what}: it asks for Kerberos", where=url, hint="run `kinit` first")
        raise kind(what, where=url, hint=self.refused_hint)

    def _json(self, path: str, answer: WebAnswer) -> JsonAnswer:
        try:
            document = json.loads(answer.text)
        except (ValueError, RecursionError) as wrong:
            raise VasError(
                f"{self.name} answers no JSON: {wrong}", where=self._url(path)
            ) from wrong
        if not isinstance(document, dict):
            raise VasError(f"{self.name} answers no JSON object", where=self._url(path))
        return JsonAnswer(document, answer.server_ms)

    def _url(self, path: str) -> str:
        return f"{self.url.rstrip('/')}/{path}"

    def _whole(self, answer: requests.Response, url: str) -> bytes:
        until = time.monotonic() + _WHOLE_SECONDS
        content = bytearray()
        # read1 returns what has come, so that a server that sends byte by byte meets the deadline.
        while part := answer.raw.read1(_PART_BYTES, decode_content=False):
            content += part
            if len(content) > _MOST_BYTES:
                raise VasError(f"{self.name} answers more than {_MOST_BYTES >> 20} MiB", where=url)
            if time.monotonic() > until:
                what = f"{self.name} has not ended its answer after {_WHOLE_SECONDS:.0f} s"
                raise VasError(what, where=url, hint=self.silent_hint)
        if answer.raw.length_remaining:
            raise urllib3.exceptions.IncompleteRead(len(content), answer.raw.length_remaining)
        return bytes(content)


def request_json(url: str, name: str = "the web server", hint: str = "") -> dict[str, Any]:
    """Reads the JSON object at a whole URL; gives up after 5 seconds of silence.

    Raises VasError, with the hint, when there is none.
    """
    parts = urllib.parse.urlsplit(url)
    server = WebServer(name, f"{parts.scheme}://{parts.netloc}", hint, hint, silence_seconds=5.0)
    return server.read_json(url.removeprefix(f"{server.url}/")).document


class _OneServer(requests.Session):
    """Follows redirects within one server, by scheme, host and port, and no others.

    A cookie stands for its user and is for a host, whatever the port: a job may listen at the next
    one. No interface of Hadoop that is asked here sends to another server: a ResourceManager that
    is not active says so.
    """

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Returns where an answer sends; None if nowhere. Raises VasError for another server."""
        target = super().get_redirect_target(resp)
        if target is not None and _origin(resp.url, target) != _origin(resp.url):
            what, hint = f"sends to another server, {target}", "name that one, if you trust it"
            raise VasError(what, where=resp.url, hint=hint)
        return target


def _origin(url: str, link: str = "") -> tuple[str, str | None, int | None] | None:
    """Scheme, host and port of a link in a page; None if it is no URL."""
    try:
        parts = urllib.parse.urlsplit(urllib.parse.urljoin(url, link))
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None
    return parts.scheme, parts.hostname, port


class _Negotiate(AuthBase):
    """Answers a server that asks for SPNEGO (401, `WWW-Authenticate: Negotiate`), and no other."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.register_hook("response", self._answer)  # type: ignore[no-untyped-call]
        return request

    def _answer(self, answer: requests.Response, **options: Any) -> requests.Response:
        if answer.status_code != 401 or not _asks_for_kerberos(answer):
            return answer
        try:
            from requests_gssapi import OPTIONAL, HTTPSPNEGOAuth
        except ImportError as missing:
            raise NotHere(
                "the server asks for Kerberos, and the Python library requests-gssapi is not there",
                where=str(answer.url),
                hint="install the locked ones: core/locks/python-kerberos.txt",
            ) from missing
        # Hadoop does not always prove itself in return: over HTTPS its certificate does.
        made: requests.Response = HTTPSPNEGOAuth(mutual_authentication=OPTIONAL).handle_response(
            answer, **options
        )
        return made


def _asks_for_kerberos(answer: requests.Response) -> bool:
    return "negotiate" in answer.headers.get("WWW-Authenticate", "").lower()


def _ca_file(named: Path | None) -> Path | None:
    found = named or (Path(text) if (text := os.environ.get(_CA_VARIABLE)) else None)
    if found and not found.is_file():
        where = "--ca" if named else f"${_CA_VARIABLE}"
        raise BadInput(f"{found} is not a file", where=where, hint="name a file in PEM format")
    return found


def _innermost(wrong: BaseException) -> BaseException:
    """The exception that caused it: the libraries wrap it several times."""
    while cause := wrong.__cause__ or wrong.__context__:
        wrong = cause
    return wrong


def _milliseconds(headers: CaseInsensitiveDict[str]) -> int | None:
    try:
        date = headers.get("Date")
        return int(parsedate_to_datetime(date).timestamp() * 1000) if date else None
    except (ValueError, OverflowError):
        return None
