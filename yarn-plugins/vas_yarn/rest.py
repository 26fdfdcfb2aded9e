"""Reading YARN's web interfaces."""

from __future__ import annotations

import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from vas_core.errors import BadInput, VasError

_TIMEOUT_SECONDS = 30
# A job's list of 100,000 tasks has some 50 MB.
_MOST_BYTES = 512 << 20


@dataclass(frozen=True)
class Answer:
    """What a server answered, and its own clock at that moment (Unix milliseconds, if it said)."""

    text: str
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
        """GET. Raises NotKnown for 404, VasError for every other failure."""
        url = f"{self.url.rstrip('/')}/{path}"
        request = urllib.request.Request(url, headers={"Accept": "application/json, text/plain"})  # noqa: S310 (__post_init__ checks the scheme)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310
                text = self._bounded(answer.read(_MOST_BYTES + 1), url).decode(errors="replace")
                return Answer(text, _milliseconds(answer.headers.get("Date")))
        except urllib.error.HTTPError as refused:
            kind = NotKnown if refused.code == 404 else VasError
            raise kind(
                f"{self.name} answers {refused.code} {refused.reason}",
                where=url,
                hint=self.refused_hint,
            ) from refused
        except OSError as unreachable:
            raise VasError(
                f"{self.name} does not answer: {unreachable}", where=url, hint=self.silent_hint
            ) from unreachable

    def _bounded(self, content: bytes, url: str) -> bytes:
        if len(content) > _MOST_BYTES:
            raise VasError(f"{self.name} answers more than {_MOST_BYTES} bytes", where=url)
        return content


def _milliseconds(date: str | None) -> int | None:
    try:
        return int(parsedate_to_datetime(date).timestamp() * 1000) if date else None
    except ValueError:
        return None
