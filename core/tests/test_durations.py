"""Spans of time as people write them."""

from __future__ import annotations

import pytest

from vas_core.durations import parse_duration
from vas_core.errors import BadInput


def test_days_and_none_are_for_who_asks_for_them() -> None:
    assert parse_duration("30d", days=True) == 30 * 86400
    assert parse_duration("0s", least_seconds=0) == 0
    for wrong in ("30d", "0s", "", "5", "9" * 5000 + "s", "\u0663s"):
        with pytest.raises(BadInput, match=r"not a time; write it like 90s, 20m or 2h"):
            parse_duration(wrong)
    for wrong in ("1w", "-1d", "0s"):
        with pytest.raises(BadInput, match="24h or 30d"):
            parse_duration(wrong, days=True)
