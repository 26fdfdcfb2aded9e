"""Names the program as the user called it, in every command that a message tells to run.

Texts name a command in one form, `vas COMMAND`; what is printed has the program in its place:
`./vas` in a clone, `vas` where it is on PATH. The script `./vas` passes the name on in VAS_PROGRAM.
"""

from __future__ import annotations

import os
import re

_IN_HINT = re.compile(r"`(?:\./)?vas (?=[a-z-])")
# Not where it stands for a system of that name: `--system vas --svg`.
_IN_HELP = re.compile(r"(?<![\w./-])(?<!--system )(?<!--base )(?:\./)?vas (?=[a-z-])")


def program() -> str:
    """Returns the word to type to run VAS."""
    return os.environ.get("VAS_PROGRAM") or "vas"


def as_called(text: str) -> str:
    """Returns a message whose commands in backquotes have the program as the user called it."""
    return _IN_HINT.sub(lambda _: f"`{program()} ", text)


def help_as_called(text: str) -> str:
    """Returns a help text whose examples, without backquotes, have the program as the user
    called it."""
    return _IN_HELP.sub(lambda _: f"{program()} ", text)
