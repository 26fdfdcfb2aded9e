"""Refuses block devices with somebody else's data as disks of guests. Never writes to a device.

A device under an OST has many names (multipath, a whole disk and its partition), so its name does
not tell whose it is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.process import run
from vas_guest.settings import GuestSettings

ROOT_LABEL = "vas-root"
"""Label of the image's root file system, or GPT partition (vm-images/guest/mkosi.repart)."""


def refuse_foreign(paths: Collection[str], settings: GuestSettings, known: Collection[str]) -> None:
    """Raises BadInput for a block device that is in use or holds somebody's data.

    The first of `paths` may hold the image. Devices in `known`, those of the guest's present
    definition, are not examined, as the guest may run. Raises OSError for a device that cannot
    be opened, CommandFailed if wipefs or partx fails, NotHere without these programs.
    """
    known = {os.path.realpath(path) for path in known}
    ours = {os.path.realpath(path) for path in settings.used_disks}
    for number, path in enumerate(paths):
        real = os.path.realpath(path)
        if real in known or not Path(real).is_block_device():
            continue
        refuse_claimed(path)
        if real not in ours:
            refuse_data(path, may_be_image=number == 0)


def refuse_claimed(path: str) -> None:
    """Raises BadInput for a device that is mounted, or used by device-mapper, MD or LVM.

    Opening with O_EXCL but without O_CREAT fails for such devices (open(2)). Raises OSError for
    a device that cannot be opened for another reason.
    """
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        hint = "name another disk in the map: a guest writes to its disks"
        what = "is in use: mounted, or part of a multipath device, an array or a volume group"
        raise BadInput(what, where=path, hint=hint) from None


def refuse_data(path: str, *, may_be_image: bool) -> None:
    """Raises BadInput for a device or file in which wipefs(8) finds a signature.

    With `may_be_image` the signatures of the project's guest image are allowed. Raises
    CommandFailed if wipefs or partx fails, NotHere without these programs.
    """
    said = run(["wipefs", "--noheadings", "--output", "TYPE,LABEL", path]).stdout
    found = [line.split() for line in said.splitlines() if line.strip()]
    if not found or (may_be_image and _has_image(path, found)):
        return
    types = ", ".join(dict.fromkeys(words[0] for words in found))
    hint = "name another disk in the map; if it was this guest's before, name it in"
    hint += " `used_disks` of the settings; if it is nobody's, `wipefs --all` it"
    raise BadInput(f"has somebody's data: {types}", where=path, hint=hint)


def _has_image(path: str, found: Collection[Collection[str]]) -> bool:
    if any(ROOT_LABEL in words for words in found):
        return True
    if not any("gpt" in words for words in found):
        return False
    names = run(["partx", "--raw", "--noheadings", "--output", "NAME", path]).stdout
    return ROOT_LABEL in names.split()
