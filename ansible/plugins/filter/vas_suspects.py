"""The filter `vas_suspect_lines`: jobs whose output may be incomplete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

DOCUMENTATION = """
name: vas_suspects
short_description: List jobs whose output may be incomplete after a stop without a sync
description: Thin layer over C(vas_ansible.suspects).
"""


def vas_suspect_lines(answers: list[dict[str, Any]], guests: list[str], minutes: Any) -> list[str]:
    """Returns a heading and a line for each suspect job: `vas_ansible.suspects.suspect_lines`."""
    from vas_ansible.suspects import suspect_lines

    return suspect_lines([*guests], int(minutes), [*answers])


class FilterModule:
    """The filters of this file, as Ansible looks for them."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Returns name -> function for each filter of this file."""
        return {"vas_suspect_lines": vas_suspect_lines}
