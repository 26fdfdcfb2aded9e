"""QEMU's monitor, JSON by the line: https://www.qemu.org/docs/master/interop/qmp-spec.html."""

from __future__ import annotations

import json
from typing import IO, Any

from vas_core.errors import VasError


class Qmp:
    """The monitor of a QEMU, spoken to by two streams.

    Raises VasError where QEMU does not answer, or answers something else than a greeting.
    """

    def __init__(self, answers: IO[bytes], request: IO[bytes]) -> None:
        self._answers, self._asked = answers, request
        if "QMP" not in self._next():
            raise VasError("it does not greet", where="QMP")
        self.do("qmp_capabilities")

    def do(self, command: str) -> None:
        """Runs a command of QEMU's. Raises VasError when QEMU refuses it or has ended."""
        try:
            self._asked.write(json.dumps({"execute": command}).encode() + b"\n")
            self._asked.flush()
        except OSError as gone:
            raise VasError(f"{command}: QEMU has ended", where="QMP") from gone
        # Events come in between.
        while "return" not in (said := self._next()):
            if "error" in said:
                raise VasError(f"{command}: {said['error'].get('desc')}", where="QMP")

    def _next(self) -> dict[str, Any]:
        line = self._answers.readline()
        try:
            found: dict[str, Any] = json.loads(line)
        except ValueError:
            raise VasError(
                f"QEMU has ended: {line.decode(errors='replace')}", where="QMP"
            ) from None
        return found
