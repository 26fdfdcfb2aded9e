"""Makes the checks as an ordinary user, in a process with this user's rights only."""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_accept.outcome import AcceptanceResult, AcceptanceStatus
from vas_accept.place import VAS
from vas_core.errors import BadInput, ExitStatus, VasError
from vas_core.process import run

_ENDED = (ExitStatus.DONE, ExitStatus.DIFFERENT)


@dataclass(frozen=True)
class OrdinaryUser:
    """A user to make checks as: the name, numbers and home of the user database."""

    name: str
    uid: int
    gid: int
    home: str

    @classmethod
    def named(cls, name: str) -> OrdinaryUser:
        """Finds a user. Raises BadInput for an unknown one, for root, and without root's rights."""
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            raise BadInput(
                "no such user", where="--as", hint=f"see `getent passwd {name}`"
            ) from None
        if found.pw_uid == 0:
            raise BadInput("root is not an ordinary user", where="--as", hint="name a scientist")
        if os.geteuid() != 0:
            raise BadInput("only root can be another user", where="--as", hint="run it as root")
        return cls(name, found.pw_uid, found.pw_gid, found.pw_dir)

    def results(
        self, directory: Path, words: Sequence[str], seconds: float
    ) -> list[AcceptanceResult]:
        """Makes the checks as this user in `directory`, within `seconds`; returns the results.

        If they could not be made, there is one failed result that says why.
        """
        try:
            return self._accept(directory, words, seconds)
        except (VasError, OSError) as wrong:
            failed = AcceptanceResult(
                check="as-user",
                title="Checks as an ordinary user",
                user=self.name,
                status=AcceptanceStatus.FAILED,
                expected=f"{self.name} makes the checks too",
                seen=str(wrong),
                meaning="what a scientist may do here is not known",
                fix="install VAS where everybody may read it, and name a user who may log in",
            )
            return [failed]

    def _accept(
        self, directory: Path, words: Sequence[str], seconds: float
    ) -> list[AcceptanceResult]:
        """Runs `vas accept` in a directory that becomes the user's."""
        own = directory / self.name
        own.mkdir(mode=0o700)
        os.chown(own, self.uid, self.gid)
        # The user passes by, and sees nothing else.
        directory.chmod(0o711)
        become = ("setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--init-groups", "--")
        argv = (*become, *VAS, "accept", str(own), "--json", *words)
        env = {**os.environ, "HOME": self.home, "USER": self.name, "LOGNAME": self.name}
        done = run(argv, check=False, env=env, cwd=Path("/"), timeout_seconds=seconds)
        if done.status not in _ENDED:
            said = (done.stderr.strip().splitlines() or [f"status {done.status}"])[-1]
            raise VasError(said, where=self.name)
        return [_result(each) for each in json.loads(done.stdout)["checks"]]


def _result(told: dict[str, object]) -> AcceptanceResult:
    status = AcceptanceStatus(str(told["status"]))
    return AcceptanceResult(**{**told, "status": status})  # type: ignore[arg-type]
