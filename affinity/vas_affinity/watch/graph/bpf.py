"""The parts of the system call bpf(2) that counting needs."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from dataclasses import dataclass, field

_CALL = {"x86_64": 321, "aarch64": 280}
_MAP_CREATE, _LOOKUP, _UPDATE, _NEXT_KEY, _LOAD, _INFO, _OPEN_TRACEPOINT, _STATS = (
    0, 1, 2, 4, 5, 15, 17, 32,
)  # fmt: skip
HASH, PER_CPU_ARRAY = 1, 6
_RAW_TRACEPOINT = 17
_ATTRIBUTE_BYTES, _INFO_BYTES, _LOG_BYTES = 144, 256, 1 << 16
_RUN_TIME_AT = 192  # of struct bpf_prog_info: run_time_ns, then run_cnt
_libc = ctypes.CDLL(None, use_errno=True)


def supported() -> str | None:
    """Returns why bpf(2) cannot be called on this machine; None if it can."""
    machine = platform.machine()
    return None if machine in _CALL else f"bpf(2) is not known on {machine}"


@dataclass
class Buffer:
    """Bytes whose address is passed to the kernel."""

    data: bytes
    buffer: ctypes.Array[ctypes.c_char] = field(init=False)

    def __post_init__(self) -> None:
        self.buffer = ctypes.create_string_buffer(self.data, len(self.data))

    @property
    def address(self) -> int:
        return ctypes.addressof(self.buffer)


def make_map(kind: int, key_bytes: int, value_bytes: int, most: int) -> int:
    """Makes a map and returns its descriptor. Raises OSError."""
    return _bpf(_MAP_CREATE, struct.pack("<IIII", kind, key_bytes, value_bytes, most))


def put(table: int, key: bytes, value: bytes) -> None:
    """Sets an entry of a map. Raises OSError."""
    held = Buffer(key), Buffer(value)
    _bpf(_UPDATE, struct.pack("<IxxxxQQQ", table, held[0].address, held[1].address, 0))


def entries(table: int, key_bytes: int, value_bytes: int) -> dict[bytes, bytes]:
    """Reads all entries of a map: key -> value. Raises OSError."""
    found: dict[bytes, bytes] = {}
    key: Buffer | None = None
    following, value = Buffer(bytes(key_bytes)), Buffer(bytes(value_bytes))
    while True:
        at = key.address if key else 0
        try:
            _bpf(_NEXT_KEY, struct.pack("<IxxxxQQ", table, at, following.address))
        except FileNotFoundError:
            return found
        key = Buffer(following.buffer.raw)
        _bpf(_LOOKUP, struct.pack("<IxxxxQQQ", table, key.address, value.address, 0))
        found[key.data] = value.buffer.raw


def load(program: bytes) -> int:
    """Loads a raw tracepoint program and returns its descriptor.

    Raises OSError with the verifier's last line.
    """
    code, licence, log = Buffer(program), Buffer(b"GPL\0"), Buffer(bytes(_LOG_BYTES))
    attributes = struct.pack(
        "<IIQQIIQ",
        _RAW_TRACEPOINT,
        len(program) // 8,
        code.address,
        licence.address,
        1,
        _LOG_BYTES,
        log.address,
    )
    try:
        return _bpf(_LOAD, attributes)
    except OSError as wrong:
        said = log.buffer.value.decode(errors="replace").strip().splitlines()
        refused = next((line for line in reversed(said) if not line.startswith("processed")), "")
        raise OSError(wrong.errno, f"{wrong.strerror}: {refused}") from wrong


def attach(program: int, tracepoint: str) -> int:
    """Runs a program at each event of a tracepoint until the returned descriptor is closed.

    Raises OSError.
    """
    name = Buffer(tracepoint.encode() + b"\0")
    return _bpf(_OPEN_TRACEPOINT, struct.pack("<QI", name.address, program))


def count_run_time() -> int:
    """Lets the kernel count the run time of programs until the returned descriptor is closed.

    Raises OSError.
    """
    return _bpf(_STATS, struct.pack("<I", 0))


def run_time(program: int) -> tuple[int, int]:
    """Returns the nanoseconds that a program ran while that was counted, and how often it ran.

    Raises OSError.
    """
    info = Buffer(bytes(_INFO_BYTES))
    _bpf(_INFO, struct.pack("<IIQ", program, _INFO_BYTES, info.address))
    nanoseconds, runs = struct.unpack_from("<QQ", info.buffer.raw, _RUN_TIME_AT)
    return nanoseconds, runs


def _bpf(command: int, attributes: bytes) -> int:
    block = ctypes.create_string_buffer(attributes, _ATTRIBUTE_BYTES)
    result = int(_libc.syscall(_CALL[platform.machine()], command, block, _ATTRIBUTE_BYTES))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
