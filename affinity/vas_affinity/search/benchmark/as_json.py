"""The figures of `vas affinity bench` for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from vas_affinity.search.benchmark.measured import BigPlan, Gap, Speed


def as_json(seed: int, speed: Speed, plan: BigPlan, gap: Gap) -> dict[str, Any]:
    """Returns all figures; the keys that the project promises come first."""
    return {
        "what_ifs_per_second": round(speed.what_ifs_per_second),
        "optimality_gap": gap.worst,
        "plan_seconds": round(plan.seconds, 3),
        "seed": seed,
        "speed": asdict(speed),
        "plan": asdict(plan),
        "gap": asdict(gap),
    }
