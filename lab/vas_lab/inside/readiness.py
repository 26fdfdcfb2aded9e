"""Finds out whether a lab is up: every NodeManager is RUNNING, and the job history answers."""

from __future__ import annotations

from dataclasses import dataclass

from vas_core.errors import VasError
from vas_lab.hadoop.hdfs import STATE_PATH, live_data_nodes, name_node_web
from vas_lab.spec import LabSpec
from vas_yarn.resourcemanager import ResourceManagerClient
from vas_yarn.rest import request_json


@dataclass(frozen=True)
class ReadyState:
    """The state of a lab that starts: `ready` if all is up; `text` names what is or is not."""

    ready: bool
    text: str


class Readiness:
    """Asks the daemons of one lab whether they are up."""

    def __init__(self, spec: LabSpec) -> None:
        self._wanted = sorted(guest.name for guest in spec.cluster.guests())
        address = spec.cluster.resourcemanager_address
        self._yarn = ResourceManagerClient.at(address)
        self._name_node = name_node_web(spec.cluster) if spec.hdfs else None
        self._history = f"http://{spec.cluster.yarn.resourcemanager.name}:19888/ws/v1/history/info"

    def nodes(self) -> dict[str, str]:
        """Returns guest -> state of its NodeManager; empty before the ResourceManager is up."""
        try:
            found = self._yarn.nodes()
        except VasError:
            return {}
        return {name: found.get(name, "unknown") for name in self._wanted}

    def check(self) -> ReadyState:
        """Returns the state of the lab now, without waiting for another."""
        nodes = self.nodes()
        if not nodes:
            return ReadyState(False, "waiting for the ResourceManager")
        running = sum(state == "RUNNING" for state in nodes.values())
        if running < len(nodes):
            return ReadyState(False, f"{running} of {len(nodes)} NodeManagers are RUNNING")
        if not self._history_answers():
            return ReadyState(False, "waiting for the JobHistoryServer")
        if self._name_node and (live := self._data_nodes(self._name_node)) < len(self._wanted):
            return ReadyState(False, f"{live} of {len(self._wanted)} DataNodes are live")
        return ReadyState(True, f"{running} NodeManagers are RUNNING")

    def _data_nodes(self, name_node: str) -> int:
        try:
            return live_data_nodes(request_json(f"{name_node}{STATE_PATH}"))
        except VasError:
            return 0

    def _history_answers(self) -> bool:
        try:
            request_json(self._history)
        except VasError:
            return False
        return True
