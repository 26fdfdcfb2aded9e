"""`vas submit`: which jobs get the application master that uses containers again."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from vas_core.errors import BadInput
from vas_yarn.submit.plan import SubmissionPlan, SubmittedJob, plan

REUSE, OPTS = "vas.containers.reuse", "yarn.app.mapreduce.am.command-opts"
FLAGS = "yarn.app.mapreduce.am.admin-command-opts"
CLASS_PATH = "yarn.application.classpath"
MASTER = "org.vas.app.VasAppMaster"
JAR = "vas-yarn-plugins-0.1.0.jar"


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """A directory with the plugins' jar."""
    directory = tmp_path / "plugins"
    directory.mkdir()
    make_jar(directory / JAR, "org/vas/app/VasAppMaster.class")
    return directory


def make_jar(file: Path, name: str) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, b"")


def planned(
    site: dict[str, str],
    profile: str = "default",
    options: dict[str, str] | None = None,
    conf: dict[str, str] | None = None,
) -> SubmissionPlan:
    job = SubmittedJob(Path("my.jar"), ("Main",), (), options or {})
    return plan(job, profile, site, conf or {})


def master(made: SubmissionPlan) -> str | None:
    """The master's options, if `vas submit` decides them."""
    words = [word for word in made.arguments if word.startswith(f"{OPTS}=")]
    assert all(word == f"{OPTS}={made.properties[OPTS]}" for word in words)
    return made.properties[OPTS] if words else None


@pytest.mark.parametrize(
    ("profile", "site_opts", "opts"),
    [
        ("default", {}, f"-Xmx1024m {MASTER}"),
        ("default", {OPTS: "-Xmx300m"}, f"-Xmx300m {MASTER}"),
        ("default", {OPTS: f"-Xmx300m {MASTER}"}, None),
        (
            "short",
            {OPTS: "-Xmx300m"},
            "-Xmx400m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=2"
            f" {MASTER}",
        ),
        ("long", {}, None),
        ("off", {}, None),
    ],
)
def test_the_master_is_the_last_word_of_the_options(
    plugins: Path, profile: str, site_opts: dict[str, str], opts: str | None
) -> None:
    made = planned({CLASS_PATH: f"/etc/vas/hadoop, {plugins}/*", **site_opts}, profile)
    assert (master(made), made.cold) == (opts, None)


def test_a_jar_by_its_name_and_a_variable_are_read(
    plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAS_TEST_PLUGINS", str(plugins))
    for entry in (f"{plugins}/{JAR}", "$VAS_TEST_PLUGINS/*"):
        assert master(planned({CLASS_PATH: entry})) == f"-Xmx1024m {MASTER}"


def test_the_users_own_options_win(plugins: Path) -> None:
    site = {CLASS_PATH: f"{plugins}/*"}
    own = {OPTS: "-Xmx2g"}
    for made in (planned(site, options=own), planned(site, conf=own)):
        assert (made.properties[OPTS], made.cold) == ("-Xmx2g", None)


def test_off_is_stocks_way_and_on_is_for_any_profile(plugins: Path) -> None:
    site = {CLASS_PATH: f"{plugins}/*"}
    assert master(planned(site, options={REUSE: "off"})) is None
    assert master(planned(site, "long", options={REUSE: "on"})) == f"-Xmx1024m {MASTER}"


def test_the_sites_word_is_above_a_profiles(plugins: Path) -> None:
    site = {CLASS_PATH: f"{plugins}/*", REUSE: "off"}
    made = planned(site)
    assert made.properties[REUSE] == "off"
    assert f"{REUSE}=off" in made.arguments
    assert master(made) is None
    assert REUSE not in made.replaced
    assert master(planned(site, options={REUSE: "on"})) == f"-Xmx1024m {MASTER}"


def test_another_word_is_refused() -> None:
    with pytest.raises(BadInput, match=r"vas\.containers\.reuse: 'yes' is not auto, on or off"):
        planned({}, options={REUSE: "yes"})


@pytest.mark.parametrize(
    ("site", "why"),
    [
        ({}, f"the site's files do not set {CLASS_PATH}"),
        ({CLASS_PATH: "/nowhere/*,/x.jar"}, f"no jar of this machine that {CLASS_PATH} names has"),
        ({CLASS_PATH: "OLD/*"}, f"no jar of this machine that {CLASS_PATH} names has"),
        ({CLASS_PATH: f"OLD/{JAR}"}, f"no jar of this machine that {CLASS_PATH} names has"),
        ({CLASS_PATH: "BROKEN/*"}, f"no jar of this machine that {CLASS_PATH} names has"),
        (
            {CLASS_PATH: "NEW/*", "mapreduce.application.framework.path": "lustre:///mr.tgz#mr"},
            "mapreduce.application.framework.path brings a Hadoop of its own",
        ),
        ({CLASS_PATH: "NEW/*", FLAGS: "@/none.args"}, "/none.args, which "),
        ({CLASS_PATH: "NEW/*", FLAGS: "@OLD/file.args"}, "no jar of this machine that "),
        ({CLASS_PATH: "NEW/*", FLAGS: "@BROKEN/file.args"}, f"{FLAGS} names an argument file with"),
        ({CLASS_PATH: "OLD/*", FLAGS: "@NEW/file.args"}, None),
        ({CLASS_PATH: "NEW/*", FLAGS: f"-cp OLD/{JAR}"}, f"no jar of this machine that {FLAGS} "),
        ({CLASS_PATH: "OLD/*", OPTS: f"-Xmx1g -cp NEW/{JAR}"}, None),
    ],
)
def test_a_master_that_a_node_may_lack_is_left_out(
    tmp_path: Path, plugins: Path, site: dict[str, str], why: str | None
) -> None:
    old, broken = tmp_path / "old", tmp_path / "broken"
    old.mkdir()
    make_jar(old / JAR, "org/vas/shuffle/map/LustreCollector.class")
    (old / "file.args").write_text(f'-Xshare:auto\n-cp "/hadoop.jar:{old}/{JAR}:/conf"\n')
    broken.mkdir()
    (broken / JAR).write_bytes(b"PK")
    (broken / "file.args").write_text("-Xshare:auto\n")
    (plugins / "file.args").write_text(f'-Xshare:auto\n-cp "/hadoop.jar:{plugins}/{JAR}"\n')
    for name, directory in (("NEW", plugins), ("OLD", old), ("BROKEN", broken)):
        site = {key: value.replace(name, str(directory)) for key, value in site.items()}
    made = planned(site)
    assert (master(made) is None) == (why is not None)
    assert (made.cold or "").startswith(why or "")
    assert (made.cold is None) == (why is None)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("kind", ["fifo", "device", "directory", "link loop"])
def test_O7_what_is_no_jar_at_its_name_keeps_nobody_waiting(tmp_path: Path, kind: str) -> None:
    jar = tmp_path / JAR
    if kind == "fifo":
        os.mkfifo(jar)
    elif kind == "directory":
        jar.mkdir()
    else:
        jar.symlink_to("/dev/zero" if kind == "device" else jar)
    made = planned({CLASS_PATH: str(jar)})
    assert master(made) is None and made.cold is not None


@pytest.mark.parametrize("profile", ["long", "off"])
def test_a_profile_that_wants_none_is_cold_where_the_site_is_warm(
    profile: str, plugins: Path
) -> None:
    site = {CLASS_PATH: f"{plugins}/*", REUSE: "auto", OPTS: f"-Xmx1024m {MASTER}"}
    made = planned(site, profile)
    assert made.properties[REUSE] == "off"
    assert f"{REUSE}=auto" not in made.arguments
    assert master(made) == "-Xmx1024m"
    assert made.replaced[REUSE] == "auto"
    warm = planned(site, profile, options={REUSE: "on"})
    assert warm.properties[OPTS] == f"-Xmx1024m {MASTER}"
