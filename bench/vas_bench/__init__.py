"""Benchmarks of VAS against what it replaces: plans, runs in rounds, statistics, reports."""
