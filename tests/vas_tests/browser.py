"""A real browser without a screen, told what to do by its DevTools pipe: descriptors 3 and 4.

Pages are files; nothing is fetched. Its profile lies in a directory of its own.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from vas_core.errors import NotHere, VasError

_PROGRAMS = ("chromium", "chromium-browser")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Browser:
    """One page of a browser, made by `browser()`.

    All methods raise VasError if the browser ends or refuses the command, BrokenPipeError if it
    had ended before.
    """

    def __init__(self, commands: BinaryIO, answers: BinaryIO) -> None:
        self._commands, self._answers = commands, answers
        self._last = 0
        self._session: str | None = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.ask("Page.enable")

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Sends a command of the DevTools protocol and returns its result.

        Raises VasError if the browser refuses it or ends, BrokenPipeError if it had ended before.
        """
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        self._commands.flush()
        while (answer := self._next()).get("id") != self._last:
            pass
        if "error" in answer:
            raise VasError(f"{method}: {answer['error']}")
        return dict(answer["result"])

    def open(self, file: Path) -> None:
        """Opens a file, and waits until it is loaded. Raises VasError if the browser ends."""
        self.ask("Page.navigate", url=file.resolve().as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def show(self, width: int, *, dark: bool = False, media: str = "screen") -> None:
        """Sets the window's width in CSS pixels, the colour scheme, and screen or print."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=800,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def evaluate(self, script: str) -> Any:
        """Returns the value of an expression in the page. Raises VasError if the page throws."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise VasError(f"in the page: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def picture(self) -> bytes:
        """Returns a picture of the whole page as PNG."""
        found = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(found["data"])

    def printed(self) -> bytes:
        """Returns the page as PDF on A4."""
        found = self.ask("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
        return base64.b64decode(found["data"])

    def _next(self) -> dict[str, Any]:
        message = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            if not byte:
                raise VasError("the browser ended")
            message += byte
        return dict(json.loads(message))


@contextmanager
def browser() -> Iterator[Browser]:
    """Starts a browser for the body, and ends it. Raises NotHere if none is installed."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        raise NotHere(f"program {_PROGRAMS[0]!r} is not installed", hint="run `vas doctor`")
    with tempfile.TemporaryDirectory(prefix="vas-browser-", ignore_cleanup_errors=True) as profile:
        to_browser, commands = os.pipe()
        answers, from_browser = os.pipe()
        with open(commands, "wb") as writing, open(answers, "rb") as reading:
            process = _start(program, profile, to_browser, from_browser)
            try:
                yield Browser(writing, reading)
            finally:
                process.kill()
                process.wait()


def _start(program: str, profile: str, stdin: int, stdout: int) -> subprocess.Popen[bytes]:
    # The browser reads descriptor 3 and writes descriptor 4: a shell puts them there.
    script = f'exec "$@" 3<&{stdin} 4>&{stdout}'
    argv = ["bash", "-c", script, "bash", program, *_FLAGS, f"--user-data-dir={profile}"]
    # Its crash reports and caches would go to the tester's home.
    usual = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
    process = subprocess.Popen(
        argv,
        pass_fds=(stdin, stdout),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=usual | {"HOME": profile},
    )
    os.close(stdin)
    os.close(stdout)
    return process
