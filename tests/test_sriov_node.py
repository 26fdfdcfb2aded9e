"""Answers of a node of the SR-IOV rig: a late one is not taken for the next one."""

from __future__ import annotations

import json
import socket

import pytest

from vas_core.errors import VasError
from vas_tests.sriov.node import Node


def test_an_answer_that_comes_late_is_not_taken_for_the_next_one() -> None:
    near, far = socket.socketpair()
    with near, far:
        node = Node("vm1", near)
        with pytest.raises(VasError, match=r"waited 0.01 s for an answer to target"):
            node._ask("target", 0.01, path="/a/link")
        late = {"done": "late"}
        far.sendall(f"{json.dumps(late)}\n{json.dumps({'done': 'text'})}\n".encode())
        assert node.read("/a/file") == "text"
