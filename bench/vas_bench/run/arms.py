"""The arms of a lab as the systems that results name."""

from __future__ import annotations

from vas_bench.results.systems import ComparedSystem, System
from vas_yarn.jobs.systems import ARMS, Arm

SYSTEM_OF: dict[str, System] = {
    "YARN-Lustre": "yarn-lustre",
    "real hosts": "yarn-lustre-hosts",
    "VAS placement": "vas-locality",
    "VAS": "vas",
}
"""An arm's name -> its system."""

ARM_OF: dict[System, Arm] = {SYSTEM_OF[arm.name]: arm for arm in ARMS}

NAME_OF: dict[ComparedSystem, str] = {system: name for name, system in SYSTEM_OF.items()}
"""A system -> the name of its arm."""
