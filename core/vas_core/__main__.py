"""Runs `vas` by `python -m vas_core`."""

from vas_core.cli import main

main()
