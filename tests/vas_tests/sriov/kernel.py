"""Finds a kernel of this machine's distribution that a machine of the rig can boot."""

from __future__ import annotations

import gzip
import lzma
import re
from dataclasses import dataclass
from pathlib import Path

from vas_core.process import run

_DRIVERS = "kernel/drivers/net/ethernet/intel"
_OPENERS = {".xz": lzma.decompress, ".gz": gzip.decompress}


@dataclass(frozen=True)
class Kernel:
    """An installed kernel: its release, and the file of its image."""

    release: str
    image: Path

    def modules(self, *names: str) -> list[Path]:
        """Returns the files of these modules and of those that they need, in the order of loading.

        Raises CommandFailed if the kernel has no such module.
        """
        argv = ["modprobe", "--set-version", self.release, "--show-depends", "--all", *names]
        words = (line.split() for line in run(argv).stdout.splitlines())
        files = [Path(line[1]) for line in words if line[0] == "insmod"]
        return list(dict.fromkeys(files))


def newest_kernel(
    boot: Path = Path("/boot"), modules: Path = Path("/lib/modules")
) -> Kernel | None:
    """Returns the newest readable kernel that has igb and igbvf; None if there is none.

    Kernels for virtual machines only (`-cloud`) lack these drivers.
    """
    kernels = [
        Kernel(image.name.removeprefix("vmlinuz-"), image) for image in boot.glob("vmlinuz-*")
    ]
    fit = [kernel for kernel in kernels if _has_drivers(modules / kernel.release)]
    return max(fit, key=lambda kernel: _version(kernel.release), default=None)


def read_module(file: Path) -> tuple[str, bytes]:
    """Returns a module's bytes, uncompressed, and its file name without `.xz` or `.gz`.

    The name comes first. The loader of busybox takes no compressed module.
    """
    if file.suffix in _OPENERS:
        return file.stem, _OPENERS[file.suffix](file.read_bytes())
    return file.name, file.read_bytes()


def _has_drivers(tree: Path) -> bool:
    return all(any(tree.glob(f"{_DRIVERS}/{name}/{name}.ko*")) for name in ("igb", "igbvf"))


def _version(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)]
