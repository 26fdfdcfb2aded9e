"""Makes the checks as an ordinary user, in a process with this user's rights only."""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from vas_accept.outcome import AcceptanceResult, AcceptanceStatus
from vas_accept.place import VAS
from vas_core.errors import BadInput, ExitStatus, VasError
from vas_core.process import CommandFailed, run

_ENDED = (ExitStatus.DONE, ExitStatus.DIFFERENT)


@dataclass(frozen=True)
class OrdinaryUser:
    """A user to make checks as: the name, numbers and home of the user database.

    `end_seconds` is what the user's process may take beyond its deadline, to end and to report.
    """

    name: str
    uid: int
    gid: int
    home: str
    end_seconds: float = 60.0

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

        The user's process knows the time, and reports what was not finished by then. If it does not
        end, there is one result that is not finished; if the checks could not be made, a failed one
        that says why.
        """
        try:
            return self._accept(directory, words, seconds)
        except CommandFailed:
            hung = f"the checks did not end in time: run `vas accept` as {self.name} alone"
            return [self._result(AcceptanceStatus.NOT_FINISHED, hung)]
        except (VasError, OSError) as wrong:
            failed = replace(
                self._result(AcceptanceStatus.FAILED, str(wrong)),
                expected=f"{self.name} makes the checks too",
                meaning="what a scientist may do here is not known",
                fix="install VAS where everybody may read it, and name a user who may log in",
            )
            return [failed]

    def _result(self, status: AcceptanceStatus, seen: str) -> AcceptanceResult:
        title = "Checks as an ordinary user"
        return AcceptanceResult(
            check="as-user", title=title, user=self.name, status=status, seen=seen
        )

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
        argv = (*become, *VAS, "accept", str(own), "--json", *words, "--seconds", f"{seconds:.1f}")
        env = {**os.environ, "HOME": self.home, "USER": self.name, "LOGNAME": self.name}
        most = seconds + self.end_seconds
        done = run(argv, check=False, env=env, cwd=Path("/"), timeout_seconds=most)
        if done.status not in _ENDED:
            said = (done.stderr.strip().splitlines() or [f"status {done.status}"])[-1]
            raise VasError(said, where=self.name)
        try:
            return [_result(each) for each in json.loads(done.stdout)["checks"]]
        except (ValueError, TypeError, KeyError) as wrong:
            raise VasError("`vas accept` printed no report", where=self.name) from wrong


def _result(told: dict[str, object]) -> AcceptanceResult:
    status = AcceptanceStatus(str(told["status"]))
    return AcceptanceResult(**{**told, "status": status})  # type: ignore[arg-type]
