"""`vas accept` as an operator runs it: all of it on the stand-in, its report, its refusals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from accept_site import AcceptSite

from vas_accept.catalogue import CHECKS, chosen
from vas_accept.commands import accept
from vas_accept.run import PREFIX
from vas_core.cli import run_command
from vas_core.errors import BadInput

pytestmark = pytest.mark.machine
# What the stand-in has not, and what was not asked for.
NOT_APPLICABLE = {
    "layout-pool": "no pool",
    "layout-self-extending": "does not take",
    "released": "--hsm",
    "owners": "--cluster",
    "failover": "--failover",
    "locks": "/proc/self/mounts",
    "full-pool": "--small-pool",
    "quota": "--quota-dir",
    "terasort": "--jobs",
}
QUICK = ("--only", "layout-plain", "--only", "set", "--only", "one", "--only", "locks")


@pytest.mark.slow
@pytest.mark.long
def test_all_of_it_on_the_stand_in(site: AcceptSite, tmp_path: Path) -> None:
    page = tmp_path / "accept.html"
    told = json.loads(site.accept("--json", "--report", str(page)).stdout)
    by_status = {each["check"]: each["status"] for each in told["checks"]}
    assert list(by_status) == [check.name for check in CHECKS]
    assert {n for n, status in by_status.items() if status != "passed"} == set(NOT_APPLICABLE)
    for each in told["checks"]:
        assert NOT_APPLICABLE.get(each["check"], "") in each["seen"]
    assert told["ok"] and told["counts"]["failed"] == 0
    assert (told["facts"]["fsname"], told["facts"]["osts"]) == ("lab", 4)
    assert told["facts"]["mount"] == str(site.lab.mount)
    assert sum(each["seconds"] for each in told["checks"]) < 900
    assert "lab: accepted" in page.read_text()
    assert list(site.lab.mount.iterdir()) == [], "nothing is left"


@pytest.mark.unhurried
def test_a_check_that_fails_is_status_3_and_a_page_says_what_to_do(
    site: AcceptSite, tmp_path: Path
) -> None:
    page = tmp_path / "accept.html"
    env = site.lab.environment()
    script = tmp_path / "lfs"
    real = site.lab.bin / "lfs"
    script.write_text(f'#!/bin/sh\n[ "$1" != getstripe ] || exit 5\nexec {real} "$@"\n')
    script.chmod(0o755)
    env["PATH"] = f"{tmp_path}:{env['PATH']}"
    words = [sys.executable, "-P", "-m", "vas_core", "accept", str(site.lab.mount), *QUICK]
    done = subprocess.run([*words, "--report", str(page)], env=env, capture_output=True, text=True)
    assert done.returncode == 3, done
    assert "failed: layout-plain, set-without-process" in done.stderr
    text = page.read_text()
    assert "lab: checks failed" in text
    for word in ("Expected:", "Seen:", "Means:", "Do:", "not applicable", "1 passed"):
        assert word in text
    # What failed comes first, and the page asks for nothing elsewhere.
    assert text.index("layout-plain") < text.index("one-winner")
    assert "://" not in text and "default-src" in text
    assert list(site.lab.mount.iterdir()) == []


@contextmanager
def _programs_run_by(python: str, directory: Path) -> Iterator[None]:
    """The stand-in's programs, run by another Python meanwhile."""
    texts = {program: program.read_text() for program in directory.iterdir()}
    for program, text in texts.items():
        program.write_text(text.replace(sys.executable, python))
    try:
        yield
    finally:
        for program, text in texts.items():
            program.write_text(text)


@pytest.mark.unhurried
@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_checks_as_an_ordinary_user(site: AcceptSite) -> None:
    python = _python_for_all()
    for path in (*_parents(site.lab.state_dir), site.lab.mount):
        path.chmod(path.stat().st_mode | 0o755)
    site.lab.socket.chmod(0o777)
    (site.lab.state_dir / "board").chmod(0o666)
    with _programs_run_by(python, site.lab.bin):
        told = json.loads(site.accept("--as", "nobody", "--json", *QUICK, python=python).stdout)
    seen = [(each["check"], each["user"], each["status"]) for each in told["checks"]]
    mine, theirs = seen[: len(seen) // 2], seen[len(seen) // 2 :]
    assert [(c, s) for c, _, s in mine] == [(c, s) for c, _, s in theirs]
    assert {user for _, user, _ in mine} == {"root"}
    assert {user for _, user, _ in theirs} == {"nobody"}
    assert list(site.lab.mount.iterdir()) == []


@pytest.mark.unhurried
@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_user_who_cannot_run_vas_is_a_check_that_failed(site: AcceptSite) -> None:
    """The stand-in's directory is closed to them."""
    site.lab.state_dir.chmod(0o700)
    done = site.accept("--as", "nobody", "--json", "--only", "one", check=False)
    assert done.status == 3, done
    told = {each["check"]: each for each in json.loads(done.stdout)["checks"]}
    assert told["one-winner"]["status"] == "passed"
    assert told["as-user"]["status"] == "failed" and told["as-user"]["fix"]


@pytest.mark.unhurried
def test_without_lfs_there_is_one_line_and_nothing_is_left(site: AcceptSite) -> None:
    words = [sys.executable, "-P", "-m", "vas_core", "accept", str(site.lab.mount), "--only", "one"]
    env = site.lab.environment() | {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    assert done.returncode not in (0, 1), done
    assert done.stderr.count("\n") == 1 and "lfs" in done.stderr, done.stderr
    assert list(site.lab.mount.iterdir()) == []


@pytest.mark.unhurried
@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_user_whose_checks_print_no_report_is_a_check_that_failed(site: AcceptSite) -> None:
    """A `setpriv` that answers otherwise comes first on PATH."""
    fake = site.lab.bin / "setpriv"
    fake.write_text("#!/bin/sh\necho hello\n")
    fake.chmod(0o755)
    try:
        done = site.accept("--as", "nobody", "--json", "--only", "one", check=False)
    finally:
        fake.unlink()
    assert done.status == 3, done
    told = {each["check"]: each for each in json.loads(done.stdout)["checks"]}
    assert "no report" in told["as-user"]["seen"]


@pytest.mark.unhurried
def test_what_was_made_goes_when_it_is_terminated(site: AcceptSite) -> None:
    words = [sys.executable, "-P", "-m", "vas_core", "accept", str(site.lab.mount)]
    with subprocess.Popen(
        [*words, "--only", "layout"],
        env=site.lab.environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as running:
        assert running.stderr is not None
        assert "layout-plain" in running.stderr.readline()
        assert [path.name for path in site.lab.mount.glob(f"{PREFIX}*")]
        running.terminate()
        running.stderr.read()
    assert running.returncode == 130
    assert list(site.lab.mount.iterdir()) == []


def test_another_file_system_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["accept", str(tmp_path)]) != 0
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and str(tmp_path) in said


def test_a_wrong_name_gets_all_names_and_a_dry_run_lists_them_off_lustre(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["accept", str(tmp_path), "--only", "nosuch"]) == 2
    said = capsys.readouterr().err
    assert all(check.name in said for check in CHECKS) and "..." not in said
    assert run_command(["accept", str(tmp_path), "--dry-run", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["check"] for each in listed] == [check.name for check in CHECKS]


def test_checks_are_named_by_their_beginning() -> None:
    assert [check.name for check in chosen(["put", "sync"])] == [
        "put-resume", "sync-time", "sync-requests",
    ]  # fmt: skip
    assert chosen([]) == CHECKS
    with pytest.raises(BadInput, match="fix"):
        chosen(["fic"])


def test_names_are_used_once_and_help_fits() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)
    assert all(check.title and check.meaning and check.fix for check in CHECKS)
    assert accept.help and "Examples" in accept.help


def _parents(path: Path) -> list[Path]:
    """The directories of pytest above, which it closes to others."""
    above = [path, *path.parents]
    return [each for each in above if each.stat().st_uid == os.geteuid() and each != Path("/")]


def _python_for_all() -> str:
    """A Python by which nobody may run VAS: the environment, and the clone, may be root's own."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
        # By a shell: setpriv itself still has root's rights when it starts a program.
        words = ["sh", "-c", '"$0" -c "import vas_accept.commands"', python]
        try:
            done = subprocess.run([*become, *words], capture_output=True, env=env)
        except FileNotFoundError:
            pytest.skip("no setpriv")
        if done.returncode == 0:
            return python
    pytest.skip(f"no {version} by which an ordinary user may run VAS from here")
