"""YARN's REST interfaces, as far as the lab reads them. Called inside the lab's network."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from vas_core.errors import VasError

_TIMEOUT_SECONDS = 5.0


class YarnRest:
    """The ResourceManager's web interface, by its address."""

    def __init__(self, address: str, port: int = 8088) -> None:
        self._base = f"http://{f'[{address}]' if ':' in address else address}:{port}/ws/v1/cluster"

    def nodes(self) -> dict[str, str]:
        """Node name -> state (NEW, RUNNING, UNHEALTHY, LOST, ...)."""
        found = request_json(f"{self._base}/nodes")["nodes"] or {}
        nodes = found.get("node", [])
        # Hadoop writes a list of one as that one.
        nodes = nodes if isinstance(nodes, list) else [nodes]
        return {node["nodeHostName"]: node["state"] for node in nodes}

    def state(self, application_id: str) -> str:
        """ACCEPTED, RUNNING, FINISHED, KILLED, ..."""
        return str(request_json(f"{self._base}/apps/{application_id}/state")["state"])

    def kind(self, application_id: str) -> str:
        """MAPREDUCE, TEZ, ..."""
        found = request_json(f"{self._base}/apps/{application_id}")
        return str(found["app"]["applicationType"])

    def kill(self, application_id: str) -> None:
        """Asks for an application's end; it is dead when `state` says KILLED."""
        request_json(f"{self._base}/apps/{application_id}/state", put={"state": "KILLED"})


def request_json(url: str, put: dict[str, str] | None = None) -> Any:
    """What GET (or PUT of a document) answers. Raises VasError when nobody does."""
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    data, method = (json.dumps(put).encode(), "PUT") if put else (None, "GET")
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 (http only)
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310
            return json.load(answer)
    except (OSError, ValueError) as wrong:
        raise VasError(str(wrong), where=url, hint="see `vas lab logs resourcemanager`") from wrong
