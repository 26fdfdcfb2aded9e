"""Reads attribute bytes that are raw, hexadecimal, or printed by `getfattr`."""

from __future__ import annotations

import base64
import binascii
import re

from vas_layout.errors import LayoutError

_GETFATTR = re.compile(r"^[\w.]+=(0[xXsS])(\S+)$", re.MULTILINE)
_HEX = re.compile(r"(?:0[xX])?((?:[0-9a-fA-F]{2}|\s)+)")


def attribute_bytes(given: bytes) -> bytes:
    """Returns the bytes of hexadecimal text or of getfattr's output; other input as it is.

    A raw layout is never taken for text: its first byte, 0xd0, is not ASCII. Raises LayoutError for
    base64 text that does not decode.
    """
    try:
        text = given.decode("ascii").strip()
    except UnicodeDecodeError:
        return given
    printed = _GETFATTR.search(text)
    if printed and printed[1] in ("0s", "0S"):
        try:
            return base64.b64decode(printed[2], validate=True)
        except binascii.Error:
            raise LayoutError("base64 text that does not decode") from None
    digits = _HEX.fullmatch(printed[1] + printed[2] if printed else text)
    return bytes.fromhex(digits[1]) if digits else given
