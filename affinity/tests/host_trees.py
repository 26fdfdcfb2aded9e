"""Small trees, written for one test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

CPU = "sys/devices/system/cpu"


def write(top: Path, files: Mapping[str, str], links: Mapping[str, str] | None = None) -> Path:
    """Writes files, by path, and links."""
    for path, text in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)
    for path, target in (links or {}).items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).symlink_to(target)
    return top


def cpus(count: int) -> dict[str, str]:
    """The files of a machine of so many cores."""
    each = {f"{CPU}/cpu{n}/topology/core_id": f"{n}\n" for n in range(count)}
    return each | {f"{CPU}/online": f"0-{count - 1}\n", "proc/meminfo": "MemTotal:  4194304 kB\n"}


def task(
    pid: int,
    tid: int,
    name: str,
    *,
    arguments: Iterable[str] = (),
    cpu_ns: int = 0,
    switches: int = 0,
    last_cpu: int = 0,
    start: int = 100,
) -> dict[str, str]:
    """The files of a thread; of its process too, if it is the first."""
    fields = ["S", "1", *["0"] * 17, str(start), *["0"] * 16, str(last_cpu), *["0"] * 12]
    stat = f"{tid} ({name}) {' '.join(fields)}\n"
    at = f"proc/{pid}/task/{tid}"
    files = {
        f"{at}/stat": stat,
        f"{at}/schedstat": f"{cpu_ns} 0 1\n",
        f"{at}/status": f"Cpus_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t{switches}\n"
        "nonvoluntary_ctxt_switches:\t0\n",
    }
    if pid == tid:
        words = "".join(f"{word}\0" for word in arguments)
        files |= {f"proc/{pid}/stat": stat, f"proc/{pid}/cmdline": words}
    return files
