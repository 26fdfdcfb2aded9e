"""A lab made for a session: its sizes, its cgroups, and perhaps a guest of an image."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

from pydantic import JsonValue

from vas_bench.engine.play import Progress
from vas_bench.interference.cgroups import made
from vas_bench.interference.guest.guest import AnalyticsGuest, booted
from vas_bench.interference.guest.machine import Machine, disk_bytes
from vas_bench.interference.lab_stage import LabStage
from vas_bench.interference.scope import LAB, Scope, with_guest
from vas_bench.interference.sizes import HostSizes, sizes
from vas_bench.interference.target import PREPARE, InterferenceTarget, TargetStage
from vas_bench.results.environment import build_of_plugins, lab_versions
from vas_bench.results.systems import ARM_OF
from vas_core.progress import Step
from vas_core.qemu import find_qemu
from vas_core.shown import counted
from vas_core.sizes import format_size
from vas_image.image import SUMS, digest_of, read_image
from vas_lab.disk import check_disk, free_bytes
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.procfs import available_memory
from vas_lab.sites import check_memory
from vas_lab.spec import find_java
from vas_lab.state import default_directory
from vas_yarn.jars import find_hadoop
from vas_yarn.jobs.terasort import TeraSort, TeraSortSizes
from vas_yarn.jobs.trees import remove_tree

_LAB = "interference"
_DIRECTORY = "/interference"
_START = "start the lab"
_BOOT = "boot the guest, and make its job's input"
# The guest's host is another one: while it is paused its memory is nobody else's.
_GUESTS_HOST = "vas-interference-guest"
# Input, map output, what reducers fetch of it, output; and the clients' files on top.
_COPIES = 4


@dataclass(frozen=True, kw_only=True)
class LabTarget(InterferenceTarget):
    """A lab as the target. `image` is the directory of the image that a guest boots."""

    hosts: int
    image: Path | None
    kvm: bool

    @property
    def scope(self) -> Scope:
        """The lab's arms: with an image, the emulated guest is one of them."""
        return with_guest(kvm=self.kvm) if self.image else LAB

    @cached_property
    def sizes(self) -> HostSizes:
        """The sizes of the host, the guest and the clients' files."""
        found = sizes(self.hosts, os.cpu_count() or 1)
        return replace(found, files_bytes=self.request.files) if self.request.files else found

    @property
    def state(self) -> Path:
        """The directory of the lab."""
        return default_directory(_LAB)

    def settings(self) -> dict[str, JsonValue]:
        """Returns the sizes, versions and builds that rounds must have in common.

        Raises NotHere before a build, BadInput for an image that cannot be read.
        """
        versions: dict[str, JsonValue] = {**lab_versions(find_hadoop(), find_java())}
        ours: dict[str, JsonValue] = {"hosts": self.hosts, **asdict(self.sizes)}
        if self.image:
            read_image(self.image)
            ours["guest"] = {"image": digest_of(self.image / SUMS), "kvm": self.kvm}
        return {**ours, "versions": versions, "build": build_of_plugins()}

    def words(self) -> str:
        """Returns the sizes in words."""
        it = self.sizes
        host, guest, files = map(format_size, (it.host_bytes, it.guest_bytes, it.files_bytes))
        cpus = counted(it.guest_cpus, "CPU")
        return (
            f"a host of {host}, of which a guest has {guest} and {cpus}; clients' files of {files}"
        )

    def facts(self) -> Mapping[str, object]:
        """Returns the sizes, and how the guest is run, for JSON."""
        how = {"accelerator": "kvm" if self.kvm else "tcg"} if self.image else None
        return {"sizes": asdict(self.sizes), "qemu_guest": how}

    def steps(self) -> Sequence[Step]:
        """Returns the steps before the first round, with their seconds on two quiet cores."""
        seconds = 240 + 300 * self.request.size / (1 << 30)
        boot = [Step(_BOOT, seconds)] if self.image else []
        return [Step(_START, 25), *super().steps(), *boot]

    def check(self) -> None:
        """Raises NotHere without the programs, BadInput without room on the disk."""
        super().check()
        size, more = self.request.size + self.sizes.files_bytes, 0
        if self.image:
            read_image(self.image)
            find_qemu()
            check_memory(self.hosts, available_memory(self.root) - self.sizes.guest_bytes)
            more = disk_bytes(self.request.size)
        check_disk(free_bytes(self.state) - more, size=size, copies=_COPIES)

    @contextmanager
    def opened(self, progress: Progress) -> Iterator[TargetStage]:
        """Starts the lab, makes its data, boots the guest and pauses it; ends all of it after."""
        cut = TeraSortSizes.of(self.request.size, self.hosts)
        with ExitStack() as stack:
            groups = stack.enter_context(made(self.root, self.sizes))
            with progress.step(_START):
                lab = Lab.start(LabOptions(state_dir=self.state, hosts=self.hosts))
            stack.enter_context(lab)
            stage = LabStage(
                place=lab,
                directory=_DIRECTORY,
                files_bytes=self.sizes.files_bytes,
                job=TeraSort(lab, cut, f"{_DIRECTORY}/terasort"),
                system=ARM_OF[self.request.system],
                give_up=lab.stop,
                groups=groups,
                root=self.root,
            )
            with progress.step(PREPARE):
                remove_tree(lab, _DIRECTORY)
                stage.prepare()
            yield replace(stage, guest=self._guest(stack, progress, cut))

    def _guest(
        self, stack: ExitStack, progress: Progress, cut: TeraSortSizes
    ) -> AnalyticsGuest | None:
        if self.image is None:
            return None
        groups = stack.enter_context(made(self.root, self.sizes, _GUESTS_HOST))
        work = self.state / "guest"
        image, qemu = read_image(self.image), find_qemu()
        machine = Machine(self.image, image, work, self.sizes, cut, qemu, self.kvm)
        with progress.step(_BOOT):
            return stack.enter_context(booted(machine, groups))
