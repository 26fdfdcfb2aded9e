"""Defines the errors of this room: bytes are not a layout, or a layout is unavailable."""

from __future__ import annotations

from vas_core.errors import BadInput, VasError


class LayoutError(BadInput):
    """Bytes, text or a request are not a layout. Its line of text is the same in Java."""


class LayoutUnavailableError(VasError):
    """The file system, `lfs` or the kernel refused to read or set a layout; `where` is the path.

    `errno` is the error number of the kernel or `lfs`; None if there is none.
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
