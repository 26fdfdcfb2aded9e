"""The environment that a run's time depends on besides its settings: machine and versions."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from pydantic import JsonValue

from vas_core.distribution import own_version
from vas_core.root import Root
from vas_yarn.jars import find_plugins

_MODEL = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)
_PROCESSORS = re.compile(r"^processor\s*:", re.MULTILINE)
_MEMORY = re.compile(r"^MemTotal:\s*(\d+) kB$", re.MULTILINE)
_JAVA = re.compile(r'^JAVA_VERSION="(.+)"$', re.MULTILINE)
_HADOOP = re.compile(r"hadoop-common-(\d.*)\.jar")
_BUILD_CHARS = 12
# The kernel keeps a little more or less for itself from one start to the next.
_MEMORY_GRAIN_BYTES = 64 << 20


def environment(root: Root) -> dict[str, JsonValue]:
    """Returns facts about the machine, without its name: kernel, processors, memory."""
    processors = root.read("proc/cpuinfo") or ""
    memory = _MEMORY.search(root.read("proc/meminfo") or "")
    model = _MODEL.search(processors)
    size = int(memory[1]) * 1024 if memory else 0
    return {
        "kernel": root.read("proc/sys/kernel/osrelease") or "unknown",
        "processor": model[1].strip() if model else "unknown",
        "processors": len(_PROCESSORS.findall(processors)),
        "memory_bytes": round(size / _MEMORY_GRAIN_BYTES) * _MEMORY_GRAIN_BYTES,
    }


def lab_versions(hadoop_lib: Path, java_home: Path) -> dict[str, str]:
    """Returns the versions of Hadoop, Java and VAS; `unknown` where the files do not tell."""
    return {
        "hadoop": _hadoop(hadoop_lib),
        "java": _java(java_home),
        "vas": own_version(),
    }


def build_of(*jars: Path) -> str:
    """Returns a hash that tells one build of jars from another. Raises OSError without a jar."""
    digests = [hashlib.sha256(jar.read_bytes()).digest() for jar in jars]
    return hashlib.sha256(b"".join(digests)).hexdigest()[:_BUILD_CHARS]


def build_of_plugins() -> str:
    """Returns the SHA-256 of the plugins' jar, to tell runs of other plugins from runs of these.

    Raises NotHere before it is built.
    """
    return hashlib.sha256(find_plugins().read_bytes()).hexdigest()


def _hadoop(directory: Path) -> str:
    found = (_HADOOP.fullmatch(path.name) for path in sorted(directory.glob("hadoop-common-*.jar")))
    return next((match[1] for match in found if match), "unknown")


def _java(home: Path) -> str:
    try:
        match = _JAVA.search((home / "release").read_text(encoding="utf-8"))
    except OSError:
        return "unknown"
    return match[1] if match else "unknown"
