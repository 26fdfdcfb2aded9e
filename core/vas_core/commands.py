"""`vas doctor` and `vas completion`."""

import click


@click.command()
def doctor() -> None:
    """Say what this machine can run, what it cannot, and the fix for each."""


@click.command()
def completion() -> None:
    """Print the shell completion script."""
