"""A lab made for a session: its sizes, its cgroups, and perhaps a guest of an image."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pydantic import JsonValue

from vas_bench.engine.play import Progress
from vas_bench.engine.resume import Environment
from vas_bench.interference import fio
from vas_bench.interference.cgroups import made
from vas_bench.interference.guest.guest import AnalyticsGuest, booted
from vas_bench.interference.guest.machine import Machine, disk_bytes
from vas_bench.interference.lab_stage import DIRECTORY, LabStage
from vas_bench.interference.play import make_files
from vas_bench.interference.scope import LAB, Scope, with_guest
from vas_bench.interference.sizes import HostSizes, sizes
from vas_bench.interference.target import InterferenceRequest, TargetStage
from vas_bench.results.environment import build_of_plugins, environment, lab_versions
from vas_bench.results.systems import ARM_OF
from vas_core.errors import NotHere
from vas_core.progress import Step, Steps
from vas_core.qemu import find_qemu
from vas_core.root import Root
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

_LAB = "interference"
_START, _PREPARE = "start the lab", "make the job's input and the clients' files"
_BOOT = "boot the guest, and make its job's input"
# The guest's host is another one: while it is paused its memory is nobody else's.
_GUESTS_HOST = "vas-interference-guest"
# Input, map output, what reducers fetch of it, output; and the clients' files on top.
_COPIES = 4


@dataclass(frozen=True)
class LabTarget:
    """An `InterferenceTarget`. `image` is the directory of the image that a guest boots."""

    request: InterferenceRequest
    hosts: int
    image: Path | None
    kvm: bool
    root: Root

    @property
    def scope(self) -> Scope:
        """The lab's arms: with an image, the emulated guest is one of them."""
        return with_guest(kvm=self.kvm) if self.image else LAB

    @cached_property
    def sizes(self) -> HostSizes:
        """The sizes of the host, the guest and the clients' files."""
        found = sizes(self.hosts, os.cpu_count() or 1)
        return replace(found, files_bytes=self.request.files) if self.request.files else found

    def environment(self) -> Environment:
        """Returns the machine as it is now."""
        return environment(self.root)

    def settings(self) -> dict[str, JsonValue]:
        """Returns sizes, versions, builds."""
        versions: dict[str, JsonValue] = {**lab_versions(find_hadoop(), find_java())}
        ours: dict[str, JsonValue] = {"hosts": self.hosts, **self.sizes.as_dict()}
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
        return {"sizes": self.sizes.as_dict(), "qemu_guest": how}

    def steps(self) -> Sequence[Step]:
        """Returns the steps before the first round, with their seconds on two quiet cores."""
        gib = self.request.size / (1 << 30)
        boot = [Step(_BOOT, 240 + 300 * gib)] if self.image else []
        return [Step(_START, 25), Step(_PREPARE, 15 + 25 * gib), *boot]

    def check(self) -> None:
        """Raises NotHere without the programs, BadInput without room on the disk."""
        if shutil.which(fio.PROGRAM) is None:
            raise NotHere("fio is not installed", hint="run `vas doctor` for the package")
        size, more = self.request.size + self.sizes.files_bytes, 0
        if self.image:
            read_image(self.image)
            find_qemu()
            check_memory(self.hosts, available_memory(self.root) - self.sizes.guest_bytes)
            more = disk_bytes(self.request.size)
        check_disk(free_bytes(self._directory) - more, size=size, copies=_COPIES)

    def progress(self, steps: Sequence[Step]) -> AbstractContextManager[Steps]:
        """Returns progress whose times are kept with the lab."""
        return Steps.show(steps, self._directory / "interference-seconds.json")

    @contextmanager
    def opened(self, progress: Progress) -> Iterator[TargetStage]:
        """Starts the lab, makes its data, boots the guest and pauses it; ends all of it after."""
        cut = TeraSortSizes.of(self.request.size, self.hosts)
        with ExitStack() as stack:
            groups = stack.enter_context(made(self.root, self.sizes))
            with progress.step(_START):
                lab = Lab.start(LabOptions(state_dir=self._directory, hosts=self.hosts))
            stack.enter_context(lab)
            job, system = TeraSort(lab, cut, f"{DIRECTORY}/terasort"), ARM_OF[self.request.system]
            stage = LabStage(lab, groups, self.sizes.files_bytes, job, system, self.root)
            with progress.step(_PREPARE):
                stage.prepare()
                make_files(stage)
            yield replace(stage, guest=self._guest(stack, progress, cut))

    def _guest(
        self, stack: ExitStack, progress: Progress, cut: TeraSortSizes
    ) -> AnalyticsGuest | None:
        if self.image is None:
            return None
        groups = stack.enter_context(made(self.root, self.sizes, _GUESTS_HOST))
        work = self._directory / "guest"
        image, qemu = read_image(self.image), find_qemu()
        machine = Machine(self.image, image, work, self.sizes, cut, qemu, self.kvm)
        with progress.step(_BOOT):
            return stack.enter_context(booted(machine, groups))

    @property
    def _directory(self) -> Path:
        return default_directory(_LAB)
