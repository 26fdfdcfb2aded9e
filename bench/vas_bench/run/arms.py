"""The arms of a lab by the systems that results name."""

from __future__ import annotations

from vas_bench.results.systems import ComparedSystem
from vas_yarn.jobs.systems import ARMS, Arm, System

SYSTEM_OF: dict[str, System] = {arm.name: arm.system for arm in ARMS}
"""An arm's name -> its system."""

ARM_OF: dict[System, Arm] = {arm.system: arm for arm in ARMS}

NAME_OF: dict[ComparedSystem, str] = {arm.system: arm.name for arm in ARMS}
"""A system -> the name of its arm."""
