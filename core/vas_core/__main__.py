"""`python -m vas_core` is `vas`."""

from vas_core.cli import main

main()
