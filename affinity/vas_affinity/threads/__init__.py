"""Plans the CPU of each thread of a host: a pure function of a snapshot."""

from vas_affinity.entities import PairWeights, ThreadGraph, read_graph
from vas_affinity.threads.plan import ThreadPlan, plan_threads, thread_plan_of
from vas_affinity.threads.problem import ThreadPlanInput, thread_problem
from vas_affinity.threads.settings import Policy, ThreadPlanSettings

__all__ = [
    "PairWeights",
    "Policy",
    "ThreadGraph",
    "ThreadPlan",
    "ThreadPlanInput",
    "ThreadPlanSettings",
    "plan_threads",
    "read_graph",
    "thread_plan_of",
    "thread_problem",
]
