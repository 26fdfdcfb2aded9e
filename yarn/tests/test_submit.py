"""`vas submit`: which profile a job gets, and what is run."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest

from vas_cluster.hadoop import configuration_xml
from vas_core.cli import run_command
from vas_yarn.profiles import SHUFFLE, profile_file, profile_properties
from vas_yarn.submit.entry import main_class
from vas_yarn.submit.inputs import find_input
from vas_yarn.submit.plan import SplitWords, SubmittedJob, plan, split_words
from vas_yarn.submit.rule import Input, choose

EXAMPLE = Path(__file__).parents[2] / "cluster" / "examples" / "four-oss.yaml"
TAGS = "mapreduce.job.tags"
MIB = 1 << 20


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a configuration directory, a map and no Hadoop."""
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path / "conf"))
    monkeypatch.setenv("VAS_CLUSTER", str(EXAMPLE))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in ("conf", "bin", "lustre"):
        (tmp_path / name).mkdir()
    make_jar(tmp_path / "my.jar")
    write(tmp_path / "conf/core-site.xml", {"vas.lustre.mount": str(tmp_path / "lustre")})
    return tmp_path


def make_jar(file: Path, manifest: str | None = None, **classes: bytes) -> Path:
    """A jar with that manifest (main section's lines) and class files, by their simple names."""
    with zipfile.ZipFile(file, "w") as archive:
        if manifest is not None:
            archive.writestr("META-INF/MANIFEST.MF", manifest)
        for name, content in classes.items():
            archive.writestr(f"org/example/{name}.class", content)
    return file


def write(file: Path, properties: dict[str, str]) -> Path:
    file.write_text(configuration_xml(properties))
    return file


def dry_run(site: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """What `vas submit --dry-run --json` prints."""
    jar = str(site / "my.jar")
    argv = [jar if word == "JAR" else word for word in arguments]
    assert run_command(["submit", "--dry-run", "--json", *argv]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("found", "reducers", "profile", "why"),
    [
        (None, 1, "default", "the size of its input is not known"),
        (Input(0, 0), 1, "short", "a map has up to 0 B, at most 256 MiB"),
        (Input(1024 * MIB, 128 * MIB), 4, "short", "a reducer has up to 256 MiB, at most 256 MiB"),
        (Input(1024 * MIB, 128 * MIB), 3, "default", "a reducer has up to 341.3 MiB"),
        (Input(1024 * MIB, 128 * MIB), 0, "long", "a reducer has up to 1 GiB, at least 1 GiB"),
        (Input(9216 * MIB, 2048 * MIB), 9, "long", "a map has up to 2 GiB, at least 1 GiB"),
        (
            Input(3000 * 128 * MIB, 128 * MIB),
            3000,
            "default",
            "a map has up to 128 MiB, but there are some 3000 maps to look after",
        ),
    ],
)
def test_the_largest_task_decides(
    found: Input | None, reducers: int, profile: str, why: str
) -> None:
    choice = choose(found, reducers)
    assert (choice.profile, choice.why) == (profile, why)


def test_input_is_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, size in (("a", 300), ("b", 50), ("_SUCCESS", 9), (".crc", 9)):
        (tmp_path / "in" / name).write_bytes(bytes(size))
    assert find_input(["/in", "/out"], tmp_path, 100) == Input(350, 100)
    assert find_input(["lustre:///in/b,/in/a", "x"], tmp_path, 500) == Input(350, 300)
    assert find_input(["hdfs://nn/in", "in", "7"], tmp_path, 100) is None
    (tmp_path / "in" / "c.gz").write_bytes(bytes(700))
    assert find_input(["/in"], tmp_path, 100) == Input(1050, 700)


def test_auto_says_what_it_chose(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "lustre/in").write_bytes(bytes(1000))
    found = dry_run(site, capsys, "JAR", "Main", "/in", "/out")
    assert (found["profile"], found["why"]) == ("short", "a map has up to 1000 B, at most 256 MiB")
    found = dry_run(site, capsys, "JAR", "Main", "/none", "/out")
    assert (found["profile"], found["why"]) == ("default", "the size of its input is not known")


def test_the_command_is_one_to_copy(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    extra = write(site / "extra.xml", {"mapreduce.job.reduces": "7"})
    argv = ["--profile", "short", "--conf", str(extra), str(site / "my.jar"), "Main"]
    assert run_command(["submit", "--dry-run", *argv, "-D", "a=b c", "-Dx=y", "-i", "/in"]) == 0
    printed = capsys.readouterr()
    assert printed.out == (
        f"hadoop jar {site}/my.jar Main -conf {profile_file('short')} -conf {extra}"
        " -D 'a=b c' -D x=y -i /in\n"
    )
    cold = "each task gets a JVM of its own: the site's files do not set "
    assert printed.err == (
        "profile short: as asked\nshuffle lustre: the site has Lustre\n"
        f"{cold}yarn.application.classpath (docs/warm.md)\n"
    )


def test_a_profile_may_be_a_file(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tuned = write(site / "tuned.xml", {**SHUFFLE, "mapreduce.task.io.sort.mb": "64"})
    found = dry_run(site, capsys, "--profile", str(tuned), "JAR", "Main", "/in", "/out")
    assert found["profile"] == str(tuned)
    properties, command = found["properties"], found["command"]
    assert isinstance(properties, dict) and isinstance(command, list)
    assert properties.items() >= profile_properties(str(tuned)).items()
    assert command[4:6] == ["-conf", str(tuned)]
    argv = ["submit", "--dry-run", "--profile", "none.xml", str(site / "my.jar"), "Main"]
    assert run_command(argv) == 2
    assert "none.xml: cannot be read" in capsys.readouterr().err


def test_the_users_word_is_the_last(tmp_path: Path) -> None:
    job = SubmittedJob(tmp_path / "my.jar", ("Main",), (), {"b": "option"}, tmp_path / "conf.xml")
    made = plan(job, "short", {"a": "site", "b": "site", "c": "site"}, {"b": "conf", "c": "conf"})
    assert {key: made.properties[key] for key in "abc"} == {"a": "site", "b": "option", "c": "conf"}
    assert made.properties.items() >= profile_properties("short").items()


def test_a_heap_follows_the_users_container(tmp_path: Path) -> None:
    flags, memory = "mapreduce.map.java.opts", "mapreduce.map.memory.mb"
    made = plan(SubmittedJob(tmp_path / "my.jar", ("Main",), (), {memory: "4096"}), "short", {}, {})
    assert made.properties[flags] == (
        "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=2"
    )
    assert f"{flags}={made.properties[flags]}" in made.arguments
    asked = {memory: "4096", flags: "-Xmx3g"}
    made = plan(SubmittedJob(tmp_path / "my.jar", ("Main",), (), asked), "short", {}, {})
    assert made.properties[flags] == "-Xmx3g"


def test_what_the_site_has_otherwise_is_told(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(site / "conf/mapred-site.xml", {"mapreduce.map.memory.mb": "3072"})
    argv = ["submit", "--dry-run", "--profile", "short", str(site / "my.jar"), "Main"]
    assert run_command(argv) == 0
    told = "mapreduce.map.memory.mb: 512; to keep the site's: -D mapreduce.map.memory.mb=3072"
    assert told in capsys.readouterr().err
    assert run_command([*argv, "-D", "mapreduce.map.memory.mb=3072"]) == 0
    assert told not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("profile", "site_tags", "options", "tags"),
    [
        ("short", "", {}, "vas-shuffle"),
        ("short", "nightly", {TAGS: "ann, x"}, "nightly,vas-shuffle,ann,x"),
        ("short", "", {"vas.shuffle.enabled": "false"}, ""),
        ("off", "vas-shuffle,nightly", {}, "nightly"),
        ("off", "", {}, ""),
    ],
)
def test_tags_add_up_and_ours_goes_with_the_shuffle(
    tmp_path: Path, profile: str, site_tags: str, options: dict[str, str], tags: str
) -> None:
    made = plan(
        SubmittedJob(tmp_path / "my.jar", ("Main",), (), options), profile, {TAGS: site_tags}, {}
    )
    assert made.properties.get(TAGS, "") == tags
    command = " ".join(made.arguments)
    from_profile = profile_properties(profile).get(TAGS, site_tags)
    assert (f"-D {TAGS}={tags}" in command) == (tags != from_profile)


def test_off_is_stock_wherever_it_is_switched_on(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(site / "conf/mapred-site.xml", SHUFFLE)
    found = dry_run(site, capsys, "--profile", "off", "JAR", "Main")
    assert found["warnings"] == []
    assert found["properties"].items() >= {"vas.shuffle.enabled": "false", TAGS: ""}.items()  # type: ignore[attr-defined]


def test_a_contradiction_is_a_warning(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["submit", "--dry-run", "--profile", "short", str(site / "my.jar"), "Main"]
    assert run_command([*argv, "-D", "mapreduce.task.io.sort.mb=900"]) == 0
    assert "warning: mapreduce.task.io.sort.mb=900: the sort buffer" in capsys.readouterr().err


def test_generic_options_are_the_leading_ones() -> None:
    words = ["-D", "a=1", "-Db=2", "in", "-D", "c=3"]
    assert split_words(words) == SplitWords(("a=1", "b=2"), (), ("in", "-D", "c=3"))
    words = ["-libjars", "x.jar", "-D", "a=1", "in"]
    assert split_words(words) == SplitWords(("a=1",), ("-libjars", "x.jar"), ("in",))


RUNNABLE = "Manifest-Version: 1.0\r\nMain-Class: org.example.Main\r\n\r\n"
DRIVER = b"..org/apache/hadoop/util/ProgramDriver.."


@pytest.mark.parametrize(
    ("manifest", "code", "words", "command"),
    [
        # A runnable jar: every word is the program's own.
        (RUNNABLE, b"", ["in", "out"], ["PROFILE", "in", "out"]),
        (RUNNABLE, b"", ["-D", "a=1", "in"], ["PROFILE", "-D", "a=1", "in"]),
        (RUNNABLE, b"", [], ["PROFILE"]),
        # As `hadoop jar` has it: a class behind a runnable jar is an argument.
        (RUNNABLE, b"", ["Count", "in"], ["PROFILE", "Count", "in"]),
        # A jar of several programs: the options follow the program's name.
        (RUNNABLE, DRIVER, ["sort", "in"], ["sort", "PROFILE", "in"]),
        # A jar without a main class: the first word is the class, a driver's second the program.
        (None, b"", ["org.example.Main", "in"], ["org.example.Main", "PROFILE", "in"]),
        (None, DRIVER, ["org/example/Main", "sort"], ["org/example/Main", "sort", "PROFILE"]),
        # Streaming's options come behind Hadoop's.
        (
            RUNNABLE,
            b"",
            ["-files", "map.py,red.py", "-mapper", "map.py", "-input", "/in"],
            ["PROFILE", "-files", "map.py,red.py", "-mapper", "map.py", "-input", "/in"],
        ),
    ],
)
def test_U1_options_stand_where_hadoop_jar_reads_them(
    site: Path,
    capsys: pytest.CaptureFixture[str],
    manifest: str | None,
    code: bytes,
    words: list[str],
    command: list[str],
) -> None:
    make_jar(site / "my.jar", manifest, Main=code)
    found = dry_run(site, capsys, "--profile", "short", "JAR", *words)
    at = command.index("PROFILE")
    options = ["-conf", str(profile_file("short"))]
    jar = ["hadoop", "jar", str(site / "my.jar")]
    assert found["command"] == [*jar, *command[:at], *options, *command[at + 1 :]]


def test_a_driver_of_several_programs_gets_the_name_of_one(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_jar(site / "my.jar", RUNNABLE, Main=DRIVER)
    assert run_command(["submit", "--dry-run", str(site / "my.jar")]) == 2
    assert "several programs, and none is named; name one behind" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["in", "out"], ["lustre:///in/*"], ["-files", "/in", "-input", "/in/part-[0-9]"]]
)
def test_U1_the_input_of_a_runnable_jar_is_known(
    site: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    make_jar(site / "my.jar", RUNNABLE)
    for directory in ("in", "user/ann/in"):
        (site / "lustre" / directory).mkdir(parents=True)
        (site / "lustre" / directory / "part-0").write_bytes(bytes(1000))
    found = dry_run(site, capsys, "JAR", *words)
    assert found["why"] == "a map has up to 1000 B, at most 256 MiB"


@pytest.mark.parametrize("word", ["//[a-z]", "http://[x/in", "/in**", "/***/x", "/**x", "a//[b"])
def test_U1_an_argument_that_is_no_path_stops_no_job(word: str, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"12345678")
    found = find_input([word, "/in"], tmp_path, 4)
    assert found is not None and found.total in (8, 16)


@pytest.mark.parametrize("word", [f"{'x' * 300}/[a-z]", f"/{'a/' * 3000}*"])
def test_U1_a_pattern_longer_than_any_name_stops_no_job(word: str, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"12345678")
    (tmp_path / "user/ann").mkdir(parents=True)
    assert find_input([word, "/in"], tmp_path, 4, home="/user/ann") == Input(8, 4)


def test_U1_no_argument_leads_out_of_the_mount(tmp_path: Path) -> None:
    mount = tmp_path / "lustre"
    (mount / "in").mkdir(parents=True)
    (tmp_path / "secret").write_bytes(b"12345678")
    for word in ("/../secret", "/../s[a-z]cret", "in/../../../secret", "lustre:///../*"):
        assert find_input([word], mount, 4, home="/in") is None, word


def test_U1_what_is_no_input_is_not_looked_at_without_end(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/words").write_bytes(b"1234")
    assert find_input(["/in"], tmp_path, 4) == Input(4, 4)
    for number in range(10_000):
        (tmp_path / f"in/.{number}").touch()
    assert find_input(["/in"], tmp_path, 4) is None


def test_U1_two_stars_are_one_to_hadoop(tmp_path: Path) -> None:
    (tmp_path / "in/day").mkdir(parents=True)
    (tmp_path / "in/words").write_bytes(b"1234")
    (tmp_path / "in/day/words").write_bytes(b"12345678")
    found = find_input(["/in/**"], tmp_path, 4)
    assert found is not None and found.total == 12, "a file, and those of a directory"
    assert find_input(["/**/words"], tmp_path, 4) == Input(4, 4), "one directory deep"


@pytest.mark.parametrize(
    ("manifest", "named"),
    [
        ("", None),
        ("Manifest-Version: 1.0\n", None),
        ("Main-Class: a.B\n", "a.B"),
        ("main-class:  a/B \n", "a.B"),
        ("Main-Class: a.very.lo\n ng.Name\nX: y\n", "a.very.long.Name"),
        ("X: y\n\nName: a\nMain-Class: a.B\n", None),
    ],
)
def test_U1_the_main_class_is_that_of_the_main_section(manifest: str, named: str | None) -> None:
    assert main_class(manifest) == named


@pytest.mark.parametrize(
    ("argv", "status", "message"),
    [
        (
            ["--profile", "fast", "JAR", "Main"],
            2,
            "has no profile fast; name one of auto, default, ",
        ),
        (["conf/core-site.xml", "Main"], 2, "core-site.xml: cannot be read as a jar: File is not"),
        (["none.jar", "Main"], 2, "none.jar: there is no such jar; name a jar of this machine"),
        (["JAR", "Main", "-conf", "x.xml"], 2, "-conf: its properties would not be seen; give it"),
        (["JAR"], 2, "its manifest names no Main-Class; give one behind the jar"),
        (["JAR", "Main", "-D"], 2, "-D: nothing behind it; write -D key=value"),
        (["JAR", "Main", "-D", "a"], 2, "-D a: not of the form key=value"),
        (["--conf", "none.xml", "JAR", "Main"], 2, "none.xml: cannot be read: No such file"),
        (["JAR", "Main"], 77, "no program 'hadoop' on PATH; put Hadoop's bin directory there"),
    ],
)
def test_what_is_wrong_is_one_line(
    site: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    argv: list[str],
    status: int,
    message: str,
) -> None:
    words = [str(site / "my.jar") if word == "JAR" else word for word in argv]
    monkeypatch.chdir(site)
    assert run_command(["submit", *words]) == status
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.machine
@pytest.mark.parametrize("status", [0, 1])
def test_json_tells_the_applications_and_the_end(
    site: Path, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    line = "INFO impl.YarnClientImpl: Submitted application application_1700000000000_0007"
    program = site / "bin/hadoop"
    program.write_text(f"#!{sys.executable}\nprint({line!r})\nraise SystemExit({status})\n")
    program.chmod(0o755)
    assert run_command(["submit", "--json", str(site / "my.jar"), "Main"]) == status
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert found["applications"] == ["application_1700000000000_0007"]
    assert found["status"] == status
    assert found["command"][:4] == ["hadoop", "jar", str(site / "my.jar"), "Main"]
    assert line in printed.err
