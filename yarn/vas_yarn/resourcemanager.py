"""Asks the ResourceManager's REST interface for nodes and applications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vas_core.errors import VasError
from vas_yarn.answer import AnswerPart
from vas_yarn.rest import NotKnown, WebServer

_CLUSTER = "ws/v1/cluster"
_OVER = ("FINISHED", "FAILED", "KILLED")
_NAME = "the ResourceManager"
_PORT = 8088
# A job's client and the lab's supervisor ask often, and go on when there is no answer.
_POLL_SECONDS = 5.0


@dataclass(frozen=True)
class ApplicationLife:
    """The state of an application: whether it is over, and since when.

    `over_since_ms` is when it ended (Unix ms); None while it is not over, and for an application
    whose owner lets nobody else see its times (`mapreduce.job.acl-view-job`).
    """

    is_over: bool
    over_since_ms: int | None = None


@dataclass(frozen=True)
class Doubt:
    """The ResourceManager answers, but its answer about one application makes no sense."""

    why: str


class ResourceManagerClient:
    """Asks one ResourceManager (`http://rm:8088`) for nodes and applications.

    All methods raise VasError if it does not answer, or answers something else.
    """

    def __init__(self, server: WebServer) -> None:
        self._server = server

    @classmethod
    def at(
        cls, address: str, port: int = _PORT, *, hint: str = "", ca: Path | None = None
    ) -> ResourceManagerClient:
        """Returns the client of a host's name or address, over HTTP.

        `hint` is the advice in the error if it does not answer. Raises BadInput for a file `ca`
        that is not there.
        """
        host = f"[{address}]" if ":" in address else address
        return cls.of(f"http://{host}:{port}", hint=hint, ca=ca)

    @classmethod
    def of(cls, url: str, *, hint: str = "", ca: Path | None = None) -> ResourceManagerClient:
        """Returns the client of a URL, HTTP or HTTPS. Raises BadInput for another kind of URL."""
        return cls(WebServer(_NAME, url, hint, hint, ca, _POLL_SECONDS))

    def nodes(self) -> dict[str, str]:
        """Returns node name -> state (NEW, RUNNING, UNHEALTHY, LOST, ...). Raises VasError."""
        found = self._field("nodes", "nodes")
        nodes = AnswerPart(self._server.url, found if isinstance(found, dict) else {})
        return {node.text("nodeHostName"): node.text("state") for node in nodes.parts("node")}

    def state(self, application_id: str) -> str:
        """Returns ACCEPTED, RUNNING, FINISHED, KILLED, ... Raises VasError."""
        return str(self._field(f"apps/{application_id}/state", "state"))

    def kind(self, application_id: str) -> str:
        """Returns an application's framework: MAPREDUCE, TEZ, ...; empty if it is not told.

        Raises VasError.
        """
        app = self._field(f"apps/{application_id}", "app")
        return AnswerPart(self._server.url, app).text("applicationType") if app else ""

    def kill(self, application_id: str) -> None:
        """Asks for an application to be killed; it has ended when its `state` is KILLED.

        Raises VasError if the ResourceManager refuses or does not answer.
        """
        self._server.put_json(f"{_CLUSTER}/apps/{application_id}/state", {"state": "KILLED"})

    def _field(self, path: str, key: str) -> Any:
        document = self._server.read_json(f"{_CLUSTER}/{path}").document
        if key not in document:
            where = f"{self._server.url}: {path}"
            raise VasError(f"{_NAME} answers without {key!r}", where=where)
        return document[key]


class ActiveResourceManager(ResourceManagerClient):
    """The one of a cluster's ResourceManagers that is active, and its clock."""

    def __init__(self, server: WebServer, now_ms: int) -> None:
        super().__init__(server)
        self.now_ms = now_ms
        """The ResourceManager's clock at the first request (Unix ms), as its other times are."""

    @classmethod
    def find(cls, urls: Sequence[str], ca: Path | None = None) -> ActiveResourceManager:
        """Returns the first of `urls` that reports to be active. Raises VasError if none does."""
        problems: list[str] = []
        for url in urls:
            server = WebServer(
                _NAME,
                url,
                refused_hint="check --resourcemanager",
                silent_hint="give its address with --resourcemanager",
                ca=ca,
            )
            try:
                return cls(server, _active_since(server))
            except VasError as wrong:
                problems.append(str(wrong))
        raise VasError(" / ".join(problems) or "no ResourceManager is named")

    def life(self, application: str) -> ApplicationLife | Doubt | None:
        """Returns whether an application is over; None if the ResourceManager does not know it.

        Returns Doubt if the answer about this application makes no sense, although the
        ResourceManager is still active. Raises VasError if it is not active any more.
        """
        try:
            document = self._server.read_json(f"{_CLUSTER}/apps/{application}").document
        except NotKnown:
            return None
        except VasError as wrong:
            _active_since(self._server)
            return Doubt(str(wrong))
        found = document.get("app")
        app = found if isinstance(found, dict) else {}
        state, since = app.get("state"), app.get("finishedTime", 0)
        if app.get("id") != application or not isinstance(state, str) or not _is_time(since):
            return Doubt(f"the ResourceManager answers nonsense about {application}")
        return ApplicationLife(state in _OVER, since if state in _OVER and since > 0 else None)


def _is_time(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _active_since(server: WebServer) -> int:
    answer = server.read_json(f"{_CLUSTER}/info")
    found = answer.document.get("clusterInfo")
    info = found if isinstance(found, dict) else {}
    if info.get("haState") != "ACTIVE" or info.get("state") != "STARTED":
        raise VasError(
            f"is {info.get('haState')} and {info.get('state')}, not ACTIVE and STARTED",
            where=server.url,
        )
    if answer.server_ms is None:
        raise VasError("does not tell its time (no Date header)", where=server.url)
    return answer.server_ms
