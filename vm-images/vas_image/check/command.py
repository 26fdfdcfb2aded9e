"""`vas image check`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from vas_core.cli import RealRange, json_option, note, print_json, print_table
from vas_core.errors import ExitStatus
from vas_core.progress import Step, Steps
from vas_image.build_command import BUILD
from vas_image.check.run import Heard, boot
from vas_image.check.seed import site
from vas_image.check.verdict import judge

_BOOT = Step("boot the image, and wait for its verdict", 300)


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--kvm", is_flag=True, help="Use KVM; without, the processor is emulated (TCG).")
@click.option(
    "--timeout",
    type=RealRange(min=10, max=7200),
    default=1200,
    show_default=True,
    metavar="SECONDS",
    help="How long it may take.",
)
@click.option("--console", type=click.Path(path_type=Path), help="Keep what it prints here.")
@json_option
def check(directory: Path, kvm: bool, timeout: float, console: Path | None, as_json: bool) -> int:
    """Boot an image without a network; a verdict.

    It boots as a guest of a site where nobody else is: cloud-init reads a seed, all units start,
    so does the NodeManager, and the machine turns itself off. The image is not written to. Status
    3 if something is not as it has to be.

    \b
    Examples: vas image check build/image/debian-12-quick
              vas image check build/image/debian-12-mkosi --kvm --json
    """
    with (
        tempfile.TemporaryDirectory(prefix="vas-check-") as work,
        Steps.show([_BOOT], BUILD / "check.seconds.json") as steps,
        steps.step(_BOOT.name),
    ):
        try:
            heard = boot(directory, Path(work), kvm=kvm, timeout_seconds=timeout)
        finally:
            if console and (found := Path(work, "console")).exists():
                console.write_bytes(found.read_bytes())
    return _tell(directory, heard, as_json)


def _tell(directory: Path, heard: Heard, as_json: bool) -> int:
    found, verdict = judge(heard.verdict, site()[1], agent=heard.agent), heard.verdict
    if as_json:
        rows = [vars(rule) for rule in found]
        print_json({"verdict": verdict.model_dump(mode="json"), "rules": rows})
    else:
        print_table(
            ("", "WHAT", "FOUND"), (("ok" if r.ok else "--", r.name, r.found) for r in found)
        )
        up, node = verdict.up_seconds, verdict.node_seconds
        note(f"{directory}: up after {up:.0f} s, NodeManager after {node:.0f} s; {verdict.java}")
    return ExitStatus.DONE if all(rule.ok for rule in found) else ExitStatus.DIFFERENT
