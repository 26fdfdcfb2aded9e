"""`vas doctor` and `vas completion`."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from vas_core.cli import json_option, print_json, print_table, vas
from vas_core.doctor import examine
from vas_core.errors import ExitStatus
from vas_core.root import Root


@click.command()
@json_option
def doctor(as_json: bool) -> int:
    """Say what this machine can run, and what else it needs.

    Status 1 if something is missing that `./vas demo` needs.
    """
    findings = list(examine(Root(), Path.cwd()))
    if as_json:
        print_json([finding.as_json() for finding in findings])
    else:
        rows = [("ok" if f.ok else "--", f.name, f.found, f.needed_for, f.fix) for f in findings]
        print_table(("", "CHECK", "FOUND", "NEEDED FOR", "FIX"), rows)
    lacking = [
        f for f in findings if not f.ok and ("demo" in f.needed_for or "every" in f.needed_for)
    ]
    return ExitStatus.FAILED if lacking else ExitStatus.DONE


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Example: vas completion bash > ~/.local/share/bash-completion/completions/vas
             vas completion zsh > ~/.zfunc/_vas
    """
    completer = get_completion_class(shell)
    assert completer is not None
    # The bash class would start bash to check its version; the script itself does not need that.
    template = completer(vas, {}, "vas", "_VAS_COMPLETE")
    sys.stdout.write(template.source_template % template.source_vars())
