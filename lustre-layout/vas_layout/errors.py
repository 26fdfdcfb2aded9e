"""What the layout room raises."""

from __future__ import annotations

from vas_core.errors import BadInput, VasError


class LayoutError(BadInput):
    """The bytes, text or request given are not a layout. One line, the same in Python and Java."""


class LayoutUnavailableError(VasError):
    """A file system, `lfs` or the kernel refused to give or to set a layout; `where` is the path.

    `errno` is the kernel's or `lfs`'s reason, where there is one.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        errno: int | None = None,
    ) -> None:
        self.errno = errno
        super().__init__(what, where=where, hint=hint)
