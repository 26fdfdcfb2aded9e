"""Removes a directory tree, but nothing in it that its owner could not have removed himself."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field

from vas_core.errors import VasError
from vas_core.shown import shown

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
DEEPEST = 256
"""Levels of directories. Each holds a descriptor, of which a process has 1024."""


class Strange(VasError):
    """A directory is not as a job leaves it, or was replaced after it was judged. It stays."""


@dataclass(frozen=True)
class Whose:
    """The user and the file system that everything in a user's staging directory must belong
    to."""

    uid: int
    device: int

    def strange(self, status: os.stat_result) -> str | None:
        """Returns why a file does not belong to this user and file system; None if it does."""
        if status.st_uid != self.uid:
            return f"belongs to uid {status.st_uid}, its staging directory to {self.uid}"
        if status.st_dev != self.device:
            return "lies on another file system"
        return None


@dataclass
class _Level:
    name: str
    descriptor: int
    left: list[str]
    stays: bool = False


@dataclass
class _Walk:
    whose: Whose
    levels: list[_Level] = field(default_factory=list)
    stranger: str | None = None
    """The first thing that stays, and why."""

    def enter(self, name: str, descriptor: int) -> None:
        """Goes one level down. The descriptor is the walk's from now on."""
        self.levels.append(_Level(name, descriptor, []))
        self.levels[-1].left = names_in(descriptor)

    def remove_next(self, name: str) -> None:
        """Removes one name of the deepest level, or enters it."""
        parent = self.levels[-1].descriptor
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if why := self.whose.strange(status):
            self.keep(name, why)
        elif not stat.S_ISDIR(status.st_mode):
            os.unlink(name, dir_fd=parent)
        elif len(self.levels) == DEEPEST:
            self.keep(name, f"is deeper than {DEEPEST} directories")
        else:
            self.enter_checked(name, parent)

    def enter_checked(self, name: str, parent: int) -> None:
        """Opens a directory and looks once more: its name may stand for another one by now."""
        descriptor = os.open(name, DIRECTORY, dir_fd=parent)
        if why := self.whose.strange(os.fstat(descriptor)):
            os.close(descriptor)
            self.keep(name, why)
        else:
            self.enter(name, descriptor)

    def keep(self, name: str, why: str) -> None:
        """Leaves a name of the deepest level where it is, and all directories above it."""
        for level in self.levels:
            level.stays = True
        if self.stranger is None:
            # The whole way of a deep one would fill the screen.
            way = [level.name for level in self.levels[1:]][:8]
            self.stranger = f"{shown('/'.join([*way, name]))} in it {why}"

    def leave(self, top_parent: int) -> None:
        """Goes one level up and removes the directory that it leaves, which is empty."""
        level = self.levels.pop()
        os.close(level.descriptor)
        parent = self.levels[-1].descriptor if self.levels else top_parent
        if not level.stays:
            os.rmdir(level.name, dir_fd=parent)

    def close(self) -> None:
        """Lets all descriptors go."""
        while self.levels:
            os.close(self.levels.pop().descriptor)


def names_in(directory: int) -> list[str]:
    """Returns the sorted names in an open directory (a descriptor)."""
    return sorted(os.listdir(directory))


def remove(name: str, parent: int, opened: int, whose: Whose) -> None:
    """Removes the directory `name` of the directory `parent`, which is also open as `opened`.

    Whoever may write into a directory may move it below one of his own, with things of others in it
    that he may not remove. So only directories of the owner `whose` are entered: what is directly
    in one he could remove himself. Entries of others, on another file system, or too deep stay,
    with the directories above them. When all else is removed, raises Strange, which names the
    first of them. Raises OSError if a removal fails.
    """
    walk = _Walk(whose)
    try:
        walk.enter(name, os.dup(opened))
        while walk.levels:
            if left := walk.levels[-1].left:
                # Its owner may still remove things himself.
                with suppress(FileNotFoundError):
                    walk.remove_next(left.pop())
            else:
                walk.leave(parent)
    finally:
        walk.close()
    if walk.stranger is not None:
        raise Strange(walk.stranger, where=name)
