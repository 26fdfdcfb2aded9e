"""The smallest kernel that boots: it writes a word to the console, and halts."""

from __future__ import annotations


def halting_kernel(word: bytes) -> bytes:
    """Returns the bytes of a kernel for QEMU that writes a word to the console, and halts."""
    say = b"".join(bytes([0xB0, letter, 0xEE]) for letter in word)  # mov al, LETTER; out dx, al
    code = b"\xba\xf8\x03" + say + b"\xfa\xf4\xeb\xfd"  # mov dx, COM1; ...; cli; hlt; jmp hlt
    kernel = bytearray(4096)
    kernel[0x1F1] = 1  # sectors of the setup, which is all there is
    kernel[0x1FE:0x208] = b"\x55\xaa\xeb\x3e" + b"HdrS" + b"\x00\x02"  # jmp 0x240
    kernel[0x240 : 0x240 + len(code)] = code
    return bytes(kernel)
