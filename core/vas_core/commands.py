"""`vas doctor` and `vas completion`."""

from __future__ import annotations

import os
import shutil
import sys

import click
from click.shell_completion import get_completion_class

from vas_core.cli import json_option, note, print_json, vas
from vas_core.doctor import checks, examine
from vas_core.doctor_lines import closing_lines, finding_lines
from vas_core.errors import BadInput, ExitStatus, VasError
from vas_core.repository import REPOSITORY
from vas_core.root import Root
from vas_core.table import print_lines

_PIPE_COLUMNS = 100


@click.command()
@json_option
def doctor(as_json: bool) -> int:
    """List what this machine can run, and the fix for what it cannot.

    Status 1 if something is missing that every command, demo, lab or bench needs (marked --).
    What only other commands need (test, image, a2av, affinity with guests), or only a site's own
    machines (a Lustre client, KVM), is marked no and does not count: status 0.

    Lines fit the terminal; in a pipe they fit $COLUMNS, or 100 columns.

    \b
    Examples: vas doctor
              vas doctor --json
    """
    findings = list(examine(Root(), checks()))
    if as_json:
        print_json([finding.as_json() for finding in findings])
    else:
        width = shutil.get_terminal_size((_PIPE_COLUMNS, 24)).columns
        print_lines(finding_lines(findings, width))
        print_lines((line, False) for line in closing_lines(findings, width))
    lacking = any(not finding.ok and not finding.optional for finding in findings)
    return ExitStatus.FAILED if lacking else ExitStatus.DONE


@click.command()
@click.argument("shell", type=click.Choice(["bash", "fish", "zsh"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples: source <(vas completion bash)
              vas completion bash > ~/.local/share/bash-completion/completions/vas
              vas completion zsh > ~/.zfunc/_vas
              vas completion fish > ~/.config/fish/completions/vas.fish
    """
    completer = get_completion_class(shell)
    assert completer is not None
    # The bash class would start bash to check its version; the script itself does not need that.
    template = completer(vas, {}, "vas", "_VAS_COMPLETE")
    sys.stdout.write(template.source_template % template.source_vars())


@click.command()
@click.option(
    "--native",
    is_flag=True,
    help="Install a Rust compiler if none is here, for the daemon vas-shuffled.",
)
def build(native: bool) -> None:
    """Build the YARN plugins and fetch Hadoop, if a source is newer.

    The script ./vas does the build, also before demo, bench and lab up. It refuses while a lab
    runs on the jars that it would replace. This command fails if anything but ./vas calls it.

    If a Rust compiler is installed, vas-shuffled is built as well: the daemon that serves map
    output from node-local disks.

    \b
    Example: ./vas build
             ./vas --yes build --native

    \f
    Raises BadInput if not called by ./vas, VasError if --native did not build vas-shuffled.
    """
    if "VAS_PROGRAM" not in os.environ:
        raise BadInput("only the script ./vas builds", hint="run it in the clone")
    daemon = REPOSITORY / "shuffled/target/release/vas-shuffled"
    if native and not daemon.exists():
        raise VasError(f"{daemon}: not built", hint="read what cargo printed above")
    note("the plugins are built")
