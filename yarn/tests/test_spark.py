"""`vas submit --spark` and `vas spark config`."""

from __future__ import annotations

import json
import shlex
import stat
import venv
from pathlib import Path

import pytest
from spark_site import JARS, make_site, make_spark

from vas_core.cli import run_command
from vas_core.errors import BadInput, NotHere
from vas_core.safe_open import Planted
from vas_yarn.spark import installation
from vas_yarn.spark.here import make_events_directory
from vas_yarn.spark.installation import find_spark
from vas_yarn.spark.kernel import check_kernel_python
from vas_yarn.spark.properties import MANAGER, SparkSite, as_file, read_properties, spark_properties

APPLICATION = "application_1764370000000_0007"


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return make_site(tmp_path, monkeypatch)


def dry_run(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert run_command(["submit", "--spark", "--dry-run", "--json", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def properties(found: dict[str, object]) -> dict[str, str]:
    rows = found["properties"]
    assert isinstance(rows, list)
    return {row["key"]: row["value"] for row in rows}


def test_an_application_gets_the_sites_properties(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = dry_run(capsys, "my.py", "in")
    got = properties(found)
    assert got["spark.shuffle.manager"] == MANAGER
    assert got["spark.sql.files.maxPartitionBytes"] == str(64 << 20)
    assert got["spark.hadoop.vas.local.counter"] == "false"
    path = [str(site / "lib" / folder / f"{name}.jar") for folder, name in JARS.items()]
    assert got["spark.executor.extraClassPath"] == ":".join(path)
    assert got["spark.driver.extraClassPath"] == ":".join(path)
    assert "spark.yarn.jars" not in got
    command = found["command"]
    assert isinstance(command, list)
    assert command[0] == str(site / "spark/bin/spark-submit")
    assert command[-2:] == ["my.py", "in"]
    assert list((site / "lustre/yarn").iterdir()) == []


def test_users_words_come_last_and_win(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = ("--queue", "q", "--conf", "spark.shuffle.manager=sort", "my.py", "--dry-run", "-v")
    command = dry_run(capsys, *own)["command"]
    assert isinstance(command, list)
    assert tuple(command[-len(own) :]) == own


def test_what_spark_defaults_sets_stays(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    defaults = site / "spark/conf/spark-defaults.conf"
    defaults.write_text("# x\nspark.eventLog.enabled false\nspark.master=local[2]\n")
    assert run_command(["submit", "--spark", "--dry-run", "--json", "my.py"]) == 0
    shown = capsys.readouterr()
    assert not {"spark.eventLog.enabled", "spark.master"} & set(properties(json.loads(shown.out)))
    assert f"spark.master: {defaults} sets it, so it is not yarn" in shown.err


def test_a_properties_file_of_ones_own_takes_the_defaults_place(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "spark/conf/spark-defaults.conf").write_text("spark.master local\n")
    (site / "own.conf").write_text("spark.eventLog.enabled: false\n")
    for words in (["--properties-file", "own.conf"], ["-v", "--properties-file=own.conf"]):
        words[-1] = words[-1].replace("own.conf", str(site / "own.conf"))
        got = properties(dry_run(capsys, *words, "my.py"))
        assert got["spark.master"] == "yarn"
        assert "spark.eventLog.enabled" not in got
    got = properties(dry_run(capsys, "--name", "x", "my.py", "--properties-file", "no"))
    assert "spark.master" not in got
    assert run_command(["submit", "--spark", "--properties-file", "no", "my.py"]) == 2
    assert "no: cannot be read" in capsys.readouterr().err


def test_each_file_of_the_user_s_counts_in_spark_s_order(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {
        "spark/conf/spark-defaults.conf": "spark.master local\nspark.eventLog.enabled false\n",
        "first.conf": "spark.eventLog.compress 1\n",
        "extra.conf": "spark.eventLog.compress 2\nspark.eventLog.rolling.enabled 2\n",
        "last.conf": "spark.eventLog.rolling.enabled 3\nspark.master local\n",
    }
    for name, text in texts.items():
        (site / name).write_text(text)
    extra = [f"--extra-properties-file={site}/{name}.conf" for name in ("extra", "last")]
    first = ["--properties-file", f"{site}/first.conf", *extra]
    assert "spark.eventLog.enabled" in properties(dry_run(capsys, *first, "my.py"))
    words = [*first, "--load-spark-defaults", "my.py"]
    assert run_command(["submit", "--spark", "--dry-run", *words]) == 0
    said = capsys.readouterr().err
    for key, file in {
        "spark.eventLog.enabled": "spark/conf/spark-defaults.conf",
        "spark.eventLog.compress": "first.conf",
        "spark.eventLog.rolling.enabled": "extra.conf",
        "spark.master": "last.conf",
    }.items():
        assert f"{key}: {site}/{file} sets it, so" in said
    assert "spark.eventLog.enabled" not in properties(dry_run(capsys, *extra, "my.py"))


def test_vas_jars_go_behind_the_users_class_path(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "spark/conf/spark-defaults.conf").write_text("spark.executor.extraClassPath /my.jar\n")
    got = properties(dry_run(capsys, "my.py"))
    assert got["spark.executor.extraClassPath"] == f"/my.jar:{got['spark.driver.extraClassPath']}"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a.b c d\n", {"a.b": "c d"}),
        ("a.b=c\n# x y\n! z\n\n", {"a.b": "c"}),
        ("a.b : c:d\n", {"a.b": "c:d"}),
        ("a.b:c\n  k\n", {"a.b": "c", "k": ""}),
        ("a.b c,\\\n   d\ne f", {"a.b": "c,d", "e": "f"}),
    ],
)
def test_a_file_of_properties(text: str, read: dict[str, str]) -> None:
    assert read_properties(text) == read


@pytest.mark.machine
def test_with_json_the_applications_output_is_on_stderr(
    site: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = site / "spark/bin/spark-submit"
    program.write_text(f"#!/bin/sh\necho result\necho Submitted application {APPLICATION} >&2\n")
    assert run_command(["submit", "--spark", "--json", "my.py"]) == 0
    shown = capfd.readouterr()
    told = json.loads(shown.out)
    assert (told["applications"], told["status"]) == ([APPLICATION], 0)
    assert "result" in shown.err


def test_a_link_to_a_spark_on_the_mount_is_named_where_it_leads(
    site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_spark(site / "lustre/sw/spark")
    (site / "link").symlink_to(home)
    monkeypatch.setenv("SPARK_HOME", str(site / "link"))
    assert properties(dry_run(capsys, "my.py"))["spark.yarn.jars"] == f"local:{home}/jars/*"


def test_stock_shuffle_leaves_sparks_own_on(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    got = properties(dry_run(capsys, "--stock-shuffle", "my.py"))
    assert not {"spark.shuffle.manager", "spark.dynamicAllocation.enabled"} & set(got)
    assert got["spark.master"] == "yarn"


def test_a_spark_on_the_mount_is_copied_by_no_job(
    site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_spark(site / "lustre/sw/spark")
    monkeypatch.setenv("SPARK_HOME", str(home))
    assert properties(dry_run(capsys, "my.py"))["spark.yarn.jars"] == f"local:{home}/jars/*"


@pytest.mark.machine
def test_it_runs_sparks_own_program(site: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command(["submit", "--spark", "my.py", "a b"]) == 0
    printed = capfd.readouterr().out.splitlines()
    assert printed[0] == str(site / "conf")
    assert printed[-2:] == ["my.py", "a b"]
    (events,) = (site / "lustre/yarn").glob("*/.staging/spark-events")
    assert stat.S_IMODE(events.stat().st_mode) == 0o700


def test_without_an_application_one_line(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["submit", "--spark"]) == 2
    assert "an application is missing" in capsys.readouterr().err


def test_the_word_after_another_option(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["submit", "--dry-run", "--spark", "my.py"]) == 2
    assert "vas submit --spark ..." in capsys.readouterr().err


def test_help_of_spark(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["submit", "--spark", "--help"]) == 0
    assert "Usage: vas submit --spark [OPTIONS] [SPARK'S OPTIONS] APP" in capsys.readouterr().out


def test_a_properties_file_has_a_reason_above_each_line(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = site / "vas-spark.conf"
    assert run_command(["spark", "config", "--out", str(out)]) == 0
    assert f" {site}/spark/bin/spark-submit --properties-file" in capsys.readouterr().err
    lines = out.read_text().splitlines()
    assert all(line.startswith("# ") for line in lines[::2])
    assert set(read_properties(out.read_text())) == {line.split()[0] for line in lines[1::2]}
    assert len(list((site / "lustre/yarn").glob("*/.staging/spark-events"))) == 1


def test_config_without_out_makes_nothing(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["spark", "config", "--no-shuffle"]) == 0
    assert MANAGER not in capsys.readouterr().out
    assert list((site / "lustre/yarn").iterdir()) == []


def test_a_kernel_has_the_sites_properties(
    site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []
    monkeypatch.setattr("vas_yarn.spark.commands.check_kernel_python", asked.append)
    zipped = site / "spark/python/lib/py4j-0-src.zip"
    zipped.parent.mkdir(parents=True)
    for file in (zipped, zipped.with_name("pyspark.zip")):
        file.touch()
    assert run_command(["spark", "kernel", "--out", str(site / "k k"), "--python", "/p"]) == 0
    told = json.loads((site / "k k/kernel.json").read_text())
    assert told["argv"][0] == "/p"
    assert told["env"]["HADOOP_CONF_DIR"] == str(site / "conf")
    assert told["env"]["SPARK_HOME"] == str(site / "spark")
    words = shlex.split(told["env"]["PYSPARK_SUBMIT_ARGS"])
    assert words == ["--properties-file", str(site / "k k/spark.conf"), "pyspark-shell"]
    assert told["env"]["PYTHONPATH"] == f"{zipped}:{zipped.with_name('pyspark.zip')}"
    assert "spark.shuffle.manager" in read_properties((site / "k k/spark.conf").read_text())
    assert asked == [Path("/p")]


@pytest.mark.machine
def test_a_python_without_ipykernel_is_named(site: Path) -> None:
    (site / "python").write_text("#!/bin/sh\nexit 1\n")
    (site / "python").chmod(0o755)
    with pytest.raises(NotHere, match="has no ipykernel"):
        check_kernel_python(site / "python")


def test_a_relative_spark_home_is_found_from_any_directory(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_spark(site / "lib/python3.13/site-packages/pyspark")
    monkeypatch.chdir(home.parent)
    monkeypatch.setenv("SPARK_HOME", "pyspark")
    assert find_spark().submit == home / "bin/spark-submit"
    assert find_spark().python == site / "bin/python3"


@pytest.mark.machine
def test_the_current_directory_is_not_asked_for_ipykernel(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(site / "env", symlinks=True)
    (site / "programs/ipykernel.py").write_text(f"open({str(site / 'ran')!r}, 'w')\n")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with pytest.raises(NotHere, match="has no ipykernel"):
        check_kernel_python(site / "env/bin/python")
    assert not (site / "ran").exists()


def test_a_missing_jar_is_named(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "lib/spark/vas-spark-0.1.0.jar").unlink()
    assert run_command(["submit", "--spark", "my.py"]) != 0
    assert "vas-spark-[0-9]*.jar is not there" in capsys.readouterr().err


def test_a_link_at_the_event_logs_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ann/.staging").mkdir(parents=True, mode=0o700)
    (tmp_path / "ann/.staging").chmod(0o700)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "ann/.staging/spark-events").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Planted, match="not a directory"):
        make_events_directory(tmp_path / "ann/.staging/spark-events")


def test_a_home_that_others_may_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann").chmod(0o777)
    with pytest.raises(Planted, match="may be written by others"):
        make_events_directory(tmp_path / "ann/.staging/spark-events")


def test_a_staging_directory_open_to_others_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ann/.staging").mkdir(parents=True)
    (tmp_path / "ann/.staging").chmod(0o770)
    with pytest.raises(Planted, match="this user alone"):
        make_events_directory(tmp_path / "ann/.staging/spark-events")


def test_spark_is_found_by_path_and_in_an_environment(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_HOME")
    monkeypatch.setattr(installation, "OF_CLONE", site / "no")
    monkeypatch.setenv("PATH", str(site / "spark/bin"))
    assert find_spark().home == site / "spark"
    home = make_spark(site / "venv/lib/python3.11/site-packages/pyspark")
    (site / "venv/bin").mkdir()
    (site / "venv/bin/spark-submit").symlink_to(home / "bin/spark-submit")
    monkeypatch.setenv("PATH", str(site / "venv/bin"))
    assert find_spark().home == home
    monkeypatch.setenv("PATH", str(site))
    with pytest.raises(NotHere, match="no Spark"):
        find_spark()
    monkeypatch.setenv("SPARK_HOME", str(site))
    with pytest.raises(BadInput, match="has no bin/spark-submit"):
        find_spark()


def test_each_property_has_a_reason() -> None:
    rows = spark_properties(SparkSite([Path("/a.jar")], 128 << 20, Path("/l/e"), Path("/l/jars")))
    assert all(row.why for row in rows)
    assert len({row.key for row in rows}) == len(rows)
    assert "reads one stripe (128 MiB)" in as_file(rows)
