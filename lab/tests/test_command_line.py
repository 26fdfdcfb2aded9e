"""`vas lab` and `vas demo` where no lab is up: refusals, names, completion."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from vas_core.cli import run_command, vas
from vas_core.errors import VasError
from vas_core.repository import REPOSITORY
from vas_lab import views
from vas_lab.display import Display
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.report import NOT_REAL, REAL
from vas_lab.sites import lab_site_yaml
from vas_lab.state import default_directory, hold
from vas_lab.workflows import workflow
from vas_yarn.jobs.events import Event


@pytest.fixture(autouse=True)
def labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the labs are."""
    monkeypatch.setenv("VAS_LABS", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("lab status", 1, "lab lab is not up"),
        ("lab run terasort", 1, "no lab is up; run `vas lab up`"),
        ("lab run --name x terasort", 1, "no lab is up; run `vas lab up --name x`"),
        ("lab shell", 1, "no lab is up"),
        ("lab logs", 2, "lab: no lab of that name; `vas lab up` makes one"),
        ("lab logs nothing", 2, "lab: no lab of that name"),
        ("lab up -D nonsense", 2, "-D nonsense: not KEY=VALUE"),
        ("lab down", 0, "lab lab is not up"),
        ("lab down --name never-made", 0, "lab never-made is not up"),
        ("lab down --dry-run --wipe", 0, "would end the lab in"),
        ("demo --size 9999T", 2, "disk: 39.1 PiB are needed, and "),
        ("demo --size 1M", 2, "--size: 1 MiB are too few for 4 hosts"),
    ],
)
def test_the_command_line_refuses_in_one_line(
    words: str, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(words.split()) == status
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.count("\n") == 1 and not printed.out


def test_a_disk_too_small_is_said_with_a_size_that_fits(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["demo", "--size", "9999T"]) == 2
    hint = capsys.readouterr().err.partition("give --size ")[2]
    assert hint.partition("M, or free")[0].isdigit() or hint == ""


@pytest.mark.parametrize("command", ["demo", "lab up"])
@pytest.mark.parametrize("hosts", ["0", "-1", "65", "many"])
def test_impossible_hosts_are_refused_at_the_option(
    command: str, hosts: str, labs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command([*command.split(), "--hosts", hosts]) == 2
    assert "invalid value for '--hosts': " in capsys.readouterr().err
    assert list(labs.iterdir()) == []


def test_labs_are_the_clones_wherever_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VAS_LABS")
    monkeypatch.chdir(tmp_path)
    assert default_directory("x") == REPOSITORY / "build/lab/x"


def test_down_names_the_labs_that_are_up(labs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with hold(labs / "demo"):
        assert run_command(["lab", "down", "--name", "dmeo"]) == 0
    assert capsys.readouterr().err == "lab dmeo is not up; up: demo\n"


def test_where_another_lab_is_up_the_hint_names_it(
    labs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with hold(labs / "demo"):
        assert run_command(["lab", "shell", "--", "true"]) == 1
    said = capsys.readouterr().err
    assert said.endswith("run `vas lab up`, or give --name demo, which is up\n")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("lab status", 1, "lab lab is starting\n"),
        ("lab run terasort", 1, "/lab: the lab is starting; wait until it is up, or end it by"),
        ("lab up", 1, "/lab: a lab is starting already; end it by `vas lab down`"),
    ],
)
def test_a_lab_that_is_starting_is_called_so(
    words: str, status: int, said: str, labs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with hold(labs / "lab"):
        assert run_command(words.split()) == status
        printed = capsys.readouterr()
        assert said in printed.err
        assert printed.err.count("\n") == 1 and not printed.out
        assert run_command(["lab", "status", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["up"], found["starting"], found["ok"]) == (False, True, False)


@pytest.mark.machine
def test_down_ends_the_supervisor_and_not_who_has_its_old_pid(labs: Path) -> None:
    command = ("-c", "import time; time.sleep(600)", "-m", "vas_lab.inside.supervisor")
    with hold(labs / "lab") as lock:
        argv = [sys.executable, *command, str(labs / "lab")]
        supervisor = subprocess.Popen(argv, pass_fds=(lock,))
        innocent = subprocess.Popen(["sleep", "600"])
    (labs / "lab/running.json").write_text(
        f'{{"supervisor": {innocent.pid}, "started": 1, "up_seconds": 1}}'
    )
    try:
        assert run_command(["lab", "down"]) == 0
        assert supervisor.wait(10) == -signal.SIGKILL
        assert innocent.poll() is None
    finally:
        for process in (supervisor, innocent):
            process.kill()
            process.wait()


def test_a_start_forgets_the_last_one_first(labs: Path) -> None:
    (labs / "lab").mkdir()
    noted = labs / "lab/running.json"
    noted.write_text('{"supervisor": 1, "started": 1, "up_seconds": 1}')
    assert run_command(["lab", "up", "--cluster", str(labs / "none.yaml")]) == 2
    assert not noted.exists()


@pytest.mark.unhurried
@pytest.mark.machine
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    mount = f"mount -t tmpfs -o size=1m tmpfs {tmp_path} && exec"
    up = f"{mount} {sys.executable} -m vas_core lab up --hosts 1 --plain"
    argv = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", up]
    if subprocess.run([*argv[:-3], "true"], check=False).returncode:
        pytest.skip("no user namespaces")
    done = subprocess.run(argv, check=False, capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "disk: 512 MiB are needed" in done.stderr
    assert done.stderr.endswith("; free some space\n")


def test_a_map_and_a_number_of_hosts_exclude_one_another(
    labs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["lab", "up", "--hosts", "2", "--cluster", "site.yaml"]) == 2
    said = capsys.readouterr().err
    assert said == "vas: --hosts: the map of --cluster says how many; give one of the two\n"
    assert list(labs.iterdir()) == []


def test_a_mount_point_that_no_lab_can_use_is_refused_before_anything_is_written(
    labs: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    file, gone = tmp_path_factory.mktemp("map") / "site.yaml", labs / "no/lustre"
    file.write_text(lab_site_yaml(1).replace("/run/lustre", str(gone)))
    assert run_command(["lab", "up", "--cluster", str(file)]) == 2
    said = capsys.readouterr().err
    assert (
        said.startswith(f"vas: lustre.mount: {gone}: no such directory") and said.count("\n") == 1
    )
    assert list(labs.iterdir()) == []


def test_a_start_that_fails_says_how_to_remove_its_files(
    labs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(options: LabOptions, **_: object) -> None:
        options.state_dir.mkdir()
        raise VasError("a port is taken")

    monkeypatch.setattr(Lab, "start", start)
    assert run_command(["lab", "up", "--name", "x"]) == 1
    hint = f"its files are in {labs}/x; `vas lab down --wipe --name x` removes them"
    assert capsys.readouterr().err.splitlines() == [hint, "vas: a port is taken"]


def test_texts_on_what_is_real_fit_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    facts = {"name": "lab", "rootless": True, "state_dir": "/x", "mount": "/y", "rss_bytes": 1}
    lists = dict.fromkeys(("problems", "daemons", "paths"), ())
    views.print_status(facts | lists | {"real": REAL, "not_real": NOT_REAL})
    _, _, texts = capsys.readouterr().out.partition("\nreal:\n")
    assert max(map(len, texts.splitlines())) <= 60
    assert [line for line in texts.splitlines() if line.startswith("    ")]


def offered(*words: str) -> list[str]:
    """What a shell completes the last word to."""
    complete = ShellComplete(vas, {}, "vas", "_VAS_COMPLETE")
    return [item.value for item in complete.get_completions(list(words[:-1]), words[-1])]


def test_a_shell_completes_values(labs: Path) -> None:
    (labs / "small/logs").mkdir(parents=True)
    for name in ("lock", "supervisor.log", "logs/nodemanager-vm1.log", "logs/jobhistory.log"):
        (labs / "small" / name).touch()
    assert offered("lab", "run", "tera") == ["teragen", "terasort", "teravalidate"]
    assert offered("lab", "run", "my.j") == ["my.j"]
    assert offered("lab", "status", "--name", "s") == ["small"]
    assert offered("lab", "logs", "--name", "small", "node") == ["nodemanager-vm1"]
    assert offered("lab", "logs", "--name", "small", "s") == ["supervisor"]
    assert offered("lab", "shell", "--name", "small", "v") == []


@pytest.mark.parametrize(
    ("size", "split"), [(64 << 20, 8 << 20), (1, 1 << 20), (1 << 40, 128 << 20)]
)
def test_an_input_is_made_in_several_splits(size: int, split: int) -> None:
    for name in ("terasort", "wordcount"):
        made_up = workflow(name, size)
        assert made_up is not None
        assert made_up.properties["vas.lustre.block-size"] == str(split)


def test_no_time_left_is_made_up(capsys: pytest.CaptureFixture[str]) -> None:
    Display("terasort", None, None).show(Event(kind="progress", text="map 50 %, reduce 0 %"))
    assert capsys.readouterr().err == "terasort: map 50 %, reduce 0 %\n"
    Display("lab", 1000, None).show(Event(kind="progress", text="wiring"))
    assert "left" in capsys.readouterr().err


def test_a_dry_run_prints_the_network(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lab", "up", "--hosts", "1", "--dry-run"]) == 0
    assert "ip -n vm1 addr add 10.77.0.21/24 dev vf0" in capsys.readouterr().out
