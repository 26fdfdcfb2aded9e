"""`vas image check`."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

import click

from vas_core.cli import RealRange, json_option, note, print_json, print_table
from vas_core.errors import ExitStatus
from vas_core.progress import Step, Steps
from vas_image.build_command import BUILD
from vas_image.check.machine import qemu_argv
from vas_image.check.run import Heard, Start, boot
from vas_image.check.seed import site
from vas_image.check.verdict import judge

_BOOT = Step("boot the image, and wait for its verdict", 300)
# Longer than the examiner waits, who knows more than a console shows.
TIMEOUT_SECONDS = 1800


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--kvm", is_flag=True, help="Use KVM; without, the processor is emulated (TCG).")
@click.option(
    "--direct", is_flag=True, help="Boot the kernel beside the disk, not its boot loader by UEFI."
)
@click.option(
    "--timeout",
    type=RealRange(min=10, max=7200),
    default=TIMEOUT_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="How long it may take.",
)
@click.option("--console", type=click.Path(path_type=Path), help="Keep what it prints here.")
@click.option("--dry-run", is_flag=True, help="Print QEMU's command, and boot nothing.")
@json_option
def check(
    directory: Path,
    kvm: bool,
    direct: bool,
    timeout: float,
    console: Path | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Boot an image without a network; a verdict.

    It boots as a guest of a site where nobody else is: cloud-init reads a seed, all units start,
    so does the NodeManager, and the machine turns itself off. The image is not written to. Status
    3 if something is not as it has to be, and the console's end is shown; 1 if it never said.

    \b
    Examples: vas image check build/image/debian-12-quick
              vas image check build/image/debian-12-mkosi --kvm --json
    """
    start = Start(directory, kvm, direct)
    if dry_run:
        click.echo(shlex.join(qemu_argv(start.boot(Path("WORK")))))
        return ExitStatus.DONE
    return _tell(directory, _boot(start, timeout, console), as_json)


def _boot(start: Start, timeout: float, console: Path | None) -> Heard:
    """Boots it, with progress; its console is kept, whatever comes of it."""
    with (
        tempfile.TemporaryDirectory(prefix="vas-check-") as work,
        Steps.show([_BOOT], BUILD / "check.seconds.json") as steps,
        steps.step(_BOOT.name),
    ):
        try:
            return boot(start, Path(work), timeout_seconds=timeout)
        finally:
            if console and (found := Path(work, "console")).exists():
                console.write_bytes(found.read_bytes())


def _tell(directory: Path, heard: Heard, as_json: bool) -> int:
    verdict = heard.verdict
    found = judge(verdict, site()[1], agent=heard.agent, off=heard.off)
    good = all(rule.ok for rule in found)
    if as_json:
        said = {"verdict": verdict.model_dump(mode="json"), "rules": [vars(r) for r in found]}
        print_json(said | {"console": heard.console})
    else:
        rows = (("ok" if r.ok else "--", r.name, r.found) for r in found)
        print_table(("", "WHAT", "FOUND"), rows)
        up, node = verdict.up_seconds, verdict.node_seconds
        note(f"{directory}: up after {up:.0f} s, NodeManager after {node:.0f} s; {verdict.java}")
        if not good:
            note("\n".join(filter(None, (verdict.failed_log, f"console:\n{heard.console}"))))
    return ExitStatus.DONE if good else ExitStatus.DIFFERENT
