"""Ansible makes directories when it is imported: not in the tester's home (conftest.py)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible import constants

# Importing Ansible looks for a controller of jobs.
pytestmark = pytest.mark.machine


def test_ansible_has_a_home_of_its_own() -> None:
    assert Path(constants.DEFAULT_LOCAL_TMP).is_relative_to(os.environ["ANSIBLE_HOME"])
