"""Defines --ca, the option of commands that read web interfaces over HTTPS."""

from __future__ import annotations

from pathlib import Path

import click

ca_option = click.option(
    "--ca",
    type=click.Path(path_type=Path),
    help="File of the CA (PEM) that signed an HTTPS server's certificate."
    " [default: $VAS_CA, else those that Python's requests trusts]",
)
