"""How samples of a recorded JVM become a table."""

from __future__ import annotations

from typing import Any

from vas_tests.profile_start import rule, table


def sample(*frames: str) -> dict[str, Any]:
    stack = [{"method": {"type": {"name": name}}} for name in frames]
    return {"type": "jdk.ExecutionSample", "values": {"stackTrace": {"frames": stack}}}


def test_the_innermost_frame_with_a_rule_counts() -> None:
    reading = "org.apache.hadoop.conf.Configuration"
    assert rule(["java.util.HashMap", reading, "org.apache.hadoop.mapred.X"]) == (
        "reading configuration"
    )
    assert rule(["java.lang.ClassLoader", reading]) == "loading and linking classes"
    assert rule(["org.example.Own"]) == "anything else"


def test_shares_are_of_all_recordings_and_the_compilers_are_told_apart() -> None:
    compilers = {"type": "jdk.CompilerStatistics", "values": {"totalTimeSpent": "PT0.5S"}}
    first = [sample("java/lang/invoke/X"), sample("a.B"), compilers]
    assert table("map", [first, [sample("a.B"), sample("a.B")]]) == [
        "map: 2 JVMs, 2 samples each, compilers 0.25 s each",
        "    75% anything else",
        "    25% lambdas, method handles",
    ]
    assert table("map", [[]]) == ["map: no samples in 1 recordings"]
