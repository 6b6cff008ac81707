"""Planners: pure functions of performance tables."""

from profet.partition.planners.plan import Plan, Share, Single
from profet.partition.planners.planner import ALGORITHMS, Planner, plan
from profet.partition.planners.subsets import Subset, all_subsets

__all__ = ["ALGORITHMS", "Plan", "Planner", "Share", "Single", "Subset", "all_subsets", "plan"]
