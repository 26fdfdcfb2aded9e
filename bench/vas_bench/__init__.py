"""Measurements: arms, repetitions, statistics."""
