"""Which CPU each thread of a host gets: a pure plan from a snapshot."""

from vas_affinity.thread_plan.graph import Graph, read_graph
from vas_affinity.thread_plan.plan import ThreadPlan, plan_threads, thread_plan_of
from vas_affinity.thread_plan.pose import Known, Posed, pose
from vas_affinity.thread_plan.settings import Policy, ThreadSettings

__all__ = [
    "Graph",
    "Known",
    "Policy",
    "Posed",
    "ThreadPlan",
    "ThreadSettings",
    "plan_threads",
    "pose",
    "read_graph",
    "thread_plan_of",
]
