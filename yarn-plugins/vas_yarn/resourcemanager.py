"""The ResourceManager's REST interface, as far as VAS reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vas_core.errors import VasError
from vas_yarn.rest import NotKnown, Server

_INFO = "ws/v1/cluster/info"
_OVER = ("FINISHED", "FAILED", "KILLED")


@dataclass(frozen=True)
class Life:
    """What the ResourceManager says about one application.

    `over_since_ms` is when it ended (Unix ms); None while it is not over, and for an application
    whose owner lets nobody else see its times (`mapreduce.job.acl-view-job`).
    """

    is_over: bool
    over_since_ms: int | None = None


@dataclass(frozen=True)
class Doubt:
    """The ResourceManager works, but what it answers about one application makes no sense."""

    why: str


class ResourceManager:
    """The active one of a cluster's ResourceManagers (`http://rm:8088`)."""

    def __init__(self, server: Server, now_ms: int) -> None:
        self._server = server
        self.now_ms = now_ms
        """Its clock when it was asked first: the one its times are to be compared with."""

    @classmethod
    def active(cls, urls: Sequence[str]) -> ResourceManager:
        """The first that says it is active. Raises VasError when none does."""
        problems: list[str] = []
        for url in urls:
            server = Server(
                "the ResourceManager",
                url,
                refused_hint="check --resourcemanager",
                silent_hint="give its address with --resourcemanager",
            )
            try:
                return cls(server, _active_since(server))
            except VasError as wrong:
                problems.append(str(wrong))
        raise VasError(" / ".join(problems) or "no ResourceManager is named")

    def life(self, application: str) -> Life | Doubt | None:
        """Asks about one application; None when the ResourceManager does not know it.

        Doubt when it does not answer properly about this application, although it is still active.
        Raises VasError when it is not active any more.
        """
        try:
            document = self._server.read_json(f"ws/v1/cluster/apps/{application}").document
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
        return Life(state in _OVER, since if state in _OVER and since > 0 else None)


def _is_time(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _active_since(server: Server) -> int:
    answer = server.read_json(_INFO)
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
