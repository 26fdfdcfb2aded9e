"""The filter `vas_suspect_lines`: jobs whose output may be incomplete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

DOCUMENTATION = """
name: vas_suspects
short_description: Jobs whose output may be incomplete, as guests stopped without a sync
description: Thin over C(vas_ansible.suspects).
"""


def vas_suspect_lines(answers: list[dict[str, Any]], guests: list[str], minutes: Any) -> list[str]:
    """As `vas_ansible.suspects.suspect_lines`."""
    from vas_ansible.suspects import suspect_lines

    return suspect_lines([*guests], int(minutes), [*answers])


class FilterModule:
    """Returns the filters of this file by the names that playbooks use."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name -> function."""
        return {"vas_suspect_lines": vas_suspect_lines}
