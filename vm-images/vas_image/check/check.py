"""The command `vas image check`."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from pathlib import Path

import click

from vas_core.cli import RealRange, json_option, note, print_json
from vas_core.errors import ExitStatus
from vas_core.progress import Step, Steps
from vas_core.table import print_table
from vas_image.build.build import BUILD
from vas_image.check.machine import qemu_argv
from vas_image.check.run import BootReport, BootStart, boot
from vas_image.check.seed import site
from vas_image.check.verdict import judge

_BOOT = Step("boot the image, and wait for its verdict", 300)
# Longer than the examiner waits: it knows more than a console shows.
TIMEOUT_SECONDS = 1800


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--kvm", is_flag=True, help="Use KVM; the default emulates the processor (TCG).")
@click.option(
    "--direct", is_flag=True, help="Boot the kernel next to the disk, not the boot loader by UEFI."
)
@click.option(
    "--timeout",
    type=RealRange(min=10, max=7200),
    default=TIMEOUT_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Longest time until the verdict.",
)
@click.option("--console", type=click.Path(path_type=Path), help="File for the console's output.")
@click.option("--dry-run", is_flag=True, help="Print QEMU's command; boot nothing.")
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
    """Boot an image without a network, and judge it.

    It boots as the only guest of a site: cloud-init reads a seed, all units and the NodeManager
    start, and the machine turns itself off. The image is not written to. Status 3 if a check fails,
    with the end of the console; status 1 if the machine gives no verdict.

    \b
    Examples: vas image check build/image/debian-12-quick
              vas image check build/image/debian-12-mkosi --kvm --json
    """
    start = BootStart(directory, kvm, direct)
    if dry_run:
        click.echo(shlex.join(qemu_argv(start.boot(Path("WORK")))))
        return ExitStatus.DONE
    return _tell(directory, _boot(start, timeout, console), as_json)


def _boot(start: BootStart, timeout: float, console: Path | None) -> BootReport:
    """Boots an image and shows progress; keeps its console whatever the result."""
    with (
        tempfile.TemporaryDirectory(prefix="vas-check-") as work,
        Steps.show([_BOOT], BUILD / "check.seconds.json") as steps,
        steps.step(_BOOT.name),
    ):
        try:
            return boot(start, Path(work), timeout_seconds=timeout)
        finally:
            if console and (found := Path(work, "console")).exists():
                shutil.copyfile(found, console)


def _tell(directory: Path, heard: BootReport, as_json: bool) -> int:
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
