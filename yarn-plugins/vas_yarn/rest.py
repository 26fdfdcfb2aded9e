"""Reading YARN's web interfaces."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from vas_core.errors import BadInput, VasError

# Until the first byte, between any two, and in all.
_SILENCE_SECONDS = 30
_WHOLE_SECONDS = 45
# A job's list of 100,000 tasks has some 50 MB.
_MOST_BYTES = 512 << 20
_PART_BYTES = 1 << 20


@dataclass(frozen=True)
class Answer:
    """What a server answered, and its own clock at that moment (Unix milliseconds, if it said)."""

    text: str
    server_ms: int | None


@dataclass(frozen=True)
class JsonAnswer:
    """A JSON object that a server answered, and its own clock (Unix milliseconds, if it said)."""

    document: dict[str, Any]
    server_ms: int | None


class NotKnown(VasError):
    """The server answers that it knows no such thing (404)."""


@dataclass(frozen=True)
class Server:
    """A web interface: how people call it, its address, and what to do when it fails."""

    name: str
    url: str
    refused_hint: str
    silent_hint: str

    def __post_init__(self) -> None:
        if urllib.parse.urlsplit(self.url).scheme not in ("http", "https"):
            raise BadInput(f"{self.url!r} is not a URL", hint="write it like http://rm:19888")

    def read(self, path: str) -> Answer:
        """GET. Raises NotKnown for 404, VasError for every other failure.

        Among these: an answer of more than 512 MiB, and one that takes longer than 45 seconds.
        """
        url = self._url(path)
        request = urllib.request.Request(url, headers={"Accept": "application/json, text/plain"})  # noqa: S310 (__post_init__ checks the scheme)
        try:
            with urllib.request.urlopen(request, timeout=_SILENCE_SECONDS) as answer:  # noqa: S310
                text = self._whole(answer, url).decode(errors="replace")
                return Answer(text, _milliseconds(answer.headers.get("Date")))
        except urllib.error.HTTPError as refused:
            kind = NotKnown if refused.code == 404 else VasError
            reason = str(refused.reason).partition("\n")[0]
            raise kind(
                f"{self.name} answers {refused.code} {reason}", where=url, hint=self.refused_hint
            ) from refused
        except http.client.HTTPException as wrong:
            raise VasError(
                f"{self.name} answers no HTTP: {type(wrong).__name__}",
                where=url,
                hint=self.silent_hint,
            ) from wrong
        except OSError as unreachable:
            raise VasError(
                f"{self.name} does not answer: {unreachable}", where=url, hint=self.silent_hint
            ) from unreachable

    def read_json(self, path: str) -> JsonAnswer:
        """GET of a JSON object. Raises as `read` does, and VasError for anything else."""
        answer = self.read(path)
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

    def _whole(self, answer: http.client.HTTPResponse, url: str) -> bytes:
        until = time.monotonic() + _WHOLE_SECONDS
        content = bytearray()
        # read1 returns what has come, so that a server that sends byte by byte meets the deadline.
        while part := answer.read1(_PART_BYTES):
            content += part
            if len(content) > _MOST_BYTES:
                raise VasError(f"{self.name} answers more than {_MOST_BYTES >> 20} MiB", where=url)
            if time.monotonic() > until:
                what = f"{self.name} has not ended its answer after {_WHOLE_SECONDS} s"
                raise VasError(what, where=url, hint=self.silent_hint)
        if answer.length:
            raise http.client.IncompleteRead(b"", answer.length)
        return bytes(content)


def _milliseconds(date: str | None) -> int | None:
    try:
        return int(parsedate_to_datetime(date).timestamp() * 1000) if date else None
    except ValueError:
        return None
