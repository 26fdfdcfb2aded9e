"""`vas submit` at a terminal: the client's own streams and end, and a word of what is next."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from vas_core.polling import poll

pytestmark = pytest.mark.machine
APPLICATION = "application_1700000000000_0007"
# The id comes in two parts, as it may through a pipe.
_SAYS = """import sys, time
print("to stdout", flush=True)
for part in ("INFO YarnClientImpl: Submitted application application_17000000", "00000_0007\\n"):
    sys.stderr.write(part)
    sys.stderr.flush()
    time.sleep(0.1)
"""


def submit(site: Path, script: str) -> tuple[subprocess.Popen[bytes], int]:
    """Starts `vas submit` with stderr at a terminal, and this program in Hadoop's place."""
    program = site / "bin/hadoop"
    program.parent.mkdir()
    (site / "conf").mkdir()
    (site / "conf/core-site.xml").write_text("<configuration/>")
    program.write_text(f"#!{sys.executable}\n{script}")
    program.chmod(0o755)
    with zipfile.ZipFile(site / "my.jar", "w"):
        pass
    read_end, terminal = pty.openpty()
    env = os.environ | {"PATH": str(program.parent), "HADOOP_CONF_DIR": str(site / "conf")}
    env |= {"VAS_PROGRAM": "vas", "VAS_CLUSTER": str(site / "none.yaml")}
    started = subprocess.Popen(
        (sys.executable, "-P", "-m", "vas_core", "submit", str(site / "my.jar"), "Main"),
        stdout=subprocess.PIPE, stderr=terminal, env=env, start_new_session=True,
    )  # fmt: skip
    os.close(terminal)
    return started, read_end


def printed(terminal: int) -> str:
    parts = []
    try:
        while part := os.read(terminal, 4096):
            parts.append(part)
    except OSError:  # the last program that had the terminal has ended
        pass
    os.close(terminal)
    return b"".join(parts).decode()


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (0, f"next: `vas job locality {APPLICATION}`: where its maps ran, and why"),
        (
            130,
            f"the client was stopped; {APPLICATION} runs on, unless it had ended: "
            f"`yarn application -kill {APPLICATION}` ends it",
        ),
        (3, f"{APPLICATION} did not end well; next: yarn logs -applicationId {APPLICATION}"),
    ],
)
def test_the_last_line_leads_on(status: int, hint: str, tmp_path: Path) -> None:
    started, terminal = submit(tmp_path, f"{_SAYS}raise SystemExit({status})\n")
    lines = printed(terminal).splitlines()
    assert started.communicate()[0] == b"to stdout\n"
    assert started.returncode == status
    assert f"Submitted application {APPLICATION}" in lines[-2]
    assert lines[-1] == hint


def test_a_queue_that_is_not_there_is_the_last_line(tmp_path: Path) -> None:
    told = f"Failed to submit {APPLICATION} to YARN : Application {APPLICATION} submitted by user"
    script = f"import sys; sys.exit({told + ' ann to unknown queue: nosuch'!r})\n"
    started, terminal = submit(tmp_path, script)
    assert printed(terminal).splitlines()[-1] == (
        "YARN has no queue nosuch: name one by -D mapreduce.job.queuename=QUEUE; "
        "`mapred queue -list` prints those that are there"
    )
    started.communicate()
    assert started.returncode == 1


def test_a_program_without_a_job_has_no_last_line(tmp_path: Path) -> None:
    started, terminal = submit(tmp_path, "import sys; sys.exit('usage: my.jar IN OUT')\n")
    assert printed(terminal).splitlines()[-1] == "usage: my.jar IN OUT"
    started.communicate()
    assert started.returncode == 1


def test_ctrl_c_is_the_client_s(tmp_path: Path) -> None:
    marked = tmp_path / "marked"
    script = f"import pathlib, time; pathlib.Path({str(marked)!r}).touch(); time.sleep(60)\n"
    started, terminal = submit(
        tmp_path, f"import signal\nsignal.signal(2, signal.SIG_DFL)\n{script}"
    )
    poll(marked.exists, bool, 20, "the client")
    os.killpg(started.pid, signal.SIGINT)
    assert "Traceback" not in printed(terminal)
    started.communicate(timeout=20)
    assert started.returncode == 130
