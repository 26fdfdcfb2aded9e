"""The checks of `vas submit --spark` before Spark starts: the application, and its containers."""

from __future__ import annotations

from pathlib import Path

import pytest
from spark_site import make_site

from vas_cluster.hadoop import configuration_xml
from vas_core.cli import run_command
from vas_yarn.spark.containers import SparkContainer, spark_containers
from vas_yarn.spark.words import read_words

DRY = ("submit", "--spark", "--dry-run")
YARN = {"spark.master": "yarn"}


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return make_site(tmp_path, monkeypatch)


@pytest.fixture
def limits(site: Path) -> None:
    """A site whose YARN gives containers of at most 1,408 MiB and 4 vcores."""
    prefix = "yarn.scheduler.maximum-allocation"
    keys = {f"{prefix}-mb": "1408", f"{prefix}-vcores": "4"}
    (site / "conf/yarn-site.xml").write_text(configuration_xml(keys))


def errors(capsys: pytest.CaptureFixture[str], status: int, *words: str) -> list[str]:
    """The lines of stderr that are not about properties."""
    assert run_command([*DRY, *words]) == status
    lines = capsys.readouterr().err.splitlines()
    return [line for line in lines if not line.startswith(("spark.", "Spark "))]


@pytest.mark.parametrize(
    "application",
    ["nosuch.py", "./no/such.jar", "{site}/programs/nosuch.R", "file://{site}/nosuch.py"],
)
def test_an_application_that_is_not_there_is_named(
    site: Path, capsys: pytest.CaptureFixture[str], application: str
) -> None:
    named = application.format(site=site)
    (line,) = errors(capsys, 2, "--queue", "q", named, "in")
    where = site / "programs" / named.removeprefix("file://")
    assert line.startswith(f"vas: {where}: the application is not there; name a file of this ")
    assert "lustre:///PROJECT/my.py" in line


def test_a_directory_is_no_application(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = errors(capsys, 2, str(site))
    assert line.startswith(f"vas: {site}: is not a file; ")


@pytest.mark.parametrize(
    "words",
    [
        ["my.py"],
        ["my.py#renamed.py"],
        ["a b#c.py"],
        ["file://{site}/programs/a%20b%23c.py"],
        ["lustre:///PROJECT/nosuch.py"],
        ["hdfs://namenode/nosuch.jar"],
        ["https://host.example/nosuch.py"],
        ["local:/opt/nosuch.py"],
        ["--class", "org.example.Main", "spark-internal"],
        ["pyspark-shell"],
        ["--status", "application_1_1"],
        ["--version"],
    ],
)
def test_what_spark_finds_by_itself_is_not_looked_for(
    site: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    (site / "programs/a b#c.py").touch()
    assert errors(capsys, 0, *(word.format(site=site) for word in words)) == []


def test_the_words_before_an_application_are_options_with_their_values() -> None:
    words = (
        "-v",
        "--conf",
        "a=b=c",
        "-c",
        "spark.driver.cores=1",
        "--driver-cores=2",
        "x.py",
        "-v",
    )
    read = read_words(words)
    assert read.application == "x.py"
    assert read.properties() == {"a": "b=c", "spark.driver.cores": "2"}
    assert read.values("--conf") == ["a=b=c"]
    assert read.values("--master") == []
    assert read_words(["--conf"]).application is None


@pytest.mark.usefixtures("limits")
def test_an_executor_above_the_limit_is_one_error_with_both_figures_and_a_fix_that_fits(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (line,) = errors(capsys, 2, "--executor-memory", "2g", "my.py")
    assert line == (
        "vas: --spark: an executor asks for 2432 MiB (a heap of 2048 and 384 more), and"
        " yarn.scheduler.maximum-allocation-mb is 1408; at most --executor-memory 1024m"
    )
    assert errors(capsys, 0, "--executor-memory", "1024m", "my.py") == []
    assert (
        "at most --executor-memory 1024m"
        in errors(capsys, 2, "--executor-memory=1025m", "my.py")[0]
    )


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["spark.executor.memory=1g", "spark.executor.memoryOverhead=385"], "memory 1023m"),
        (["spark.executor.memoryOverhead=1g"], "set spark.executor.memoryOverhead too"),
        (["spark.executor.pyspark.memory=1m"], "at most --executor-memory 1023m"),
        (["spark.yarn.am.memory=2g"], "the application master asks for 2432 MiB"),
        (["spark.submit.deployMode=cluster", "spark.driver.memory=3g"], "--driver-memory 1024m"),
        (["spark.executor.cores=5"], "asks for 5 vcores, and yarn.scheduler.maximum-allocation-v"),
        (["spark.yarn.am.cores=5"], "at most --conf spark.yarn.am.cores=4"),
    ],
)
def test_each_part_of_a_container_counts(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    conf = [word for pair in words for word in ("--conf", pair)]
    (line,) = errors(capsys, 2, *conf, "my.py")
    assert said in line


@pytest.mark.usefixtures("limits")
def test_both_containers_are_in_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--executor-memory", "2g", "--conf", "spark.yarn.am.memory=3g", "my.py")
    (line,) = errors(capsys, 2, *words)
    assert "an executor asks for 2432 MiB" in line
    assert "the application master asks for 3456 MiB" in line


@pytest.mark.usefixtures("limits")
def test_an_option_wins_over_conf_and_conf_over_the_users_file(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    defaults = site / "spark/conf/spark-defaults.conf"
    defaults.write_text("spark.executor.memory 2g\n")
    assert "2432 MiB" in errors(capsys, 2, "my.py")[0]
    assert errors(capsys, 0, "--conf", "spark.executor.memory=1g", "my.py") == []
    more = ("--executor-memory", "3g", "--conf", "spark.executor.memory=1g", "my.py")
    assert "3456 MiB" in errors(capsys, 2, *more)[0]


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize(
    "where", ["environment", "spark-env.sh", "another master", "word", "factor", "much"]
)
def test_sizes_that_are_not_known_are_left_to_spark(
    site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    words = ["--conf", "spark.executor.memory=2g"]
    script = site / "spark/conf/spark-env.sh"
    script.write_text("# SPARK_EXECUTOR_MEMORY, and others\n")
    assert "2432 MiB" in errors(capsys, 2, *words, "my.py")[0]
    if where == "environment":
        monkeypatch.setenv("SPARK_EXECUTOR_MEMORY", "1g")
    elif where == "spark-env.sh":
        script.write_text("export SPARK_EXECUTOR_MEMORY=1g\n")
    else:
        words += {
            "another master": ["--master", "local[2]"],
            "word": ["--executor-memory", "much"],
            "factor": ["--conf", "spark.executor.memoryOverheadFactor=inf"],
            "much": ["--conf", "spark.executor.memoryOverheadFactor=1e306"],
        }[where]
    assert errors(capsys, 0, *words, "my.py") == []


def test_a_container_larger_than_the_known_nodes_is_a_line_and_no_error(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = {"yarn.nodemanager.resource.memory-mb": "1088"}
    (site / "conf/yarn-site.xml").write_text(configuration_xml(keys))
    (line,) = errors(capsys, 0, "my.py")
    assert "asks for 1408 MiB" in line
    assert "the largest node that is known here gives 1088 MiB; at most --executor-mem" in line
    assert line.endswith(" 704m")
    assert errors(capsys, 0, "--executor-memory", "704m", "my.py") == []


@pytest.mark.parametrize("limit", [1408, 4223, 4224, 4225, 100_000])
def test_the_fix_is_the_largest_heap_that_fits(limit: int) -> None:
    def executor(heap_mib: int) -> SparkContainer:
        memory = {"spark.executor.memory": f"{heap_mib}m"}
        return spark_containers({**YARN, **memory}, is_python=False)[0]

    heap = int(executor(1 << 20).fit(limit).removeprefix("at most --executor-memory ")[:-1])
    assert executor(heap).mib <= limit < executor(heap + 1).mib
