"""Plans a host's guests, service threads and interrupts as one scored problem. Pure."""

from vas_affinity.joint.again import PlannedAgain, plan_again
from vas_affinity.joint.plan import JointPlan, Solution, every_home, host_plan_of, plan_host
from vas_affinity.joint.problem import JointInput

__all__ = [
    "JointInput",
    "JointPlan",
    "PlannedAgain",
    "Solution",
    "every_home",
    "host_plan_of",
    "plan_again",
    "plan_host",
]
