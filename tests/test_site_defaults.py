"""A job's settings on a site are those it was measured with in the lab, or differ for a reason."""

from __future__ import annotations

import zipfile
from fnmatch import fnmatchcase
from pathlib import Path

from vas_ansible.hadoop import CHILD_ARGUMENTS, PROGRAMS, Choices, site_files
from vas_cluster import parse_cluster
from vas_lab.hadoop.configuration import configuration
from vas_lab.sites import lab_site_yaml
from vas_lab.spec import LabSpec
from vas_tests.pages import DOCS, table
from vas_yarn.lint.rules import contradictions
from vas_yarn.profiles import SHUFFLE, profile_properties
from vas_yarn.site_files import as_mapping, read_xml, site_properties
from vas_yarn.submit.master import MASTER, OPTIONS_KEY
from vas_yarn.submit.plan import SubmittedJob, plan

PAGE = DOCS / "site-defaults.md"
GUEST = "vm1"


def _plugin_jar(directory: Path) -> Path:
    directory.mkdir(parents=True)
    jar = directory / "vas-yarn-plugins-0.1.0.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("org/vas/app/VasAppMaster.class", b"")
    return jar


def _submitted(properties: dict[str, str]) -> dict[str, str]:
    job = SubmittedJob(Path("my.jar"), (), (), {})
    return dict(plan(job, "short", properties, {}).properties)


def site_job(directory: Path, choices: Choices) -> dict[str, str]:
    """The properties of a job that is submitted on a site of the map of a lab, and its daemons'."""
    cluster = parse_cluster(lab_site_yaml(2), "lab")
    jar = _plugin_jar(directory / "plugins")
    arguments = directory / "vas-child.args"
    arguments.write_text(f'-cp "{jar}"\n')
    found: dict[str, str] = {}
    for node in (cluster.yarn.resourcemanager.name, GUEST):
        for text in site_files(cluster, node, choices).values():
            (directory / "one.xml").write_text(text)
            found |= {each.key: each.value for each in read_xml(directory / "one.xml")}
    here = {CHILD_ARGUMENTS: str(arguments), f"{PROGRAMS}/plugins": str(jar.parent)}
    for word, path in here.items():
        found = {key: value.replace(word, path) for key, value in found.items()}
    submitted = _submitted(found)
    for word, path in here.items():
        submitted = {key: value.replace(path, word) for key, value in submitted.items()}
    return submitted


def lab_job(directory: Path) -> dict[str, str]:
    """The properties of a job that is submitted in a lab, and those of the lab's daemons."""
    jar = _plugin_jar(directory / "plugins")
    (directory / "cluster.yaml").write_text(lab_site_yaml(2))
    spec = LabSpec(
        name="x",
        state_dir=directory,
        hadoop_lib=directory,
        plugin_jar=jar,
        java_home=Path("/jdk"),
        user_namespace=True,
    )
    spec.child_arguments.parent.mkdir(parents=True, exist_ok=True)
    spec.child_arguments.write_text(f'-cp "{jar}"\n')
    found = {k: v for file in configuration(spec).values() for k, v in file.items()}
    return _submitted(found)


DEFAULTS = Choices(plugins=True, class_archive=True, reserved="1MiB")


def test_each_difference_from_the_lab_is_in_the_page_with_its_reason(tmp_path: Path) -> None:
    site, lab = site_job(tmp_path / "site", DEFAULTS), lab_job(tmp_path / "lab")
    differing = {key for key in site.keys() | lab.keys() if site.get(key) != lab.get(key)}
    listed = {row[0].strip("`"): row[-1] for row in table(PAGE, "Differences from the lab")}
    assert all(listed.values())
    unlisted = {k for k in differing if not any(fnmatchcase(k, glob) for glob in listed)}
    assert not unlisted, {key: (site.get(key), lab.get(key)) for key in sorted(unlisted)}
    stale = {glob for glob in listed if not any(fnmatchcase(k, glob) for k in differing)}
    assert not stale


def switched(tmp_path: Path, **properties: str) -> dict[str, str]:
    """What `hadoop jar` gives a job on a site with these properties, by its site files alone."""
    cluster = parse_cluster(lab_site_yaml(2), "lab")
    keys = {key.replace("_", "."): value for key, value in properties.items()}
    choices = Choices(plugins=True, reserved="1MiB", properties=keys)
    (tmp_path / "mapred-site.xml").write_text(
        site_files(cluster, GUEST, choices)["mapred-site.xml"]
    )
    (tmp_path / "core-site.xml").write_text(site_files(cluster, GUEST, choices)["core-site.xml"])
    return site_properties(tmp_path)


def test_one_property_of_the_site_switches_each_plugin_off(tmp_path: Path) -> None:
    on = switched(tmp_path)
    assert on.items() >= SHUFFLE.items()
    assert on[OPTIONS_KEY].split()[-1] == MASTER
    no_shuffle = switched(tmp_path, vas_shuffle_enabled="false")
    assert "mapreduce.job.tags" not in no_shuffle
    assert no_shuffle[OPTIONS_KEY] == on[OPTIONS_KEY]
    cold = switched(tmp_path, vas_containers_reuse="off")
    assert OPTIONS_KEY not in cold
    assert cold.items() >= SHUFFLE.items()


def test_a_heap_follows_from_a_jobs_container_and_a_container_from_its_heap(tmp_path: Path) -> None:
    profile, found = profile_properties("default"), switched(tmp_path)
    share = float(found["mapreduce.job.heap.memory-mb.ratio"])
    for kind in ("map", "reduce"):
        assert f"mapreduce.{kind}.memory.mb" not in found
        assert "-Xmx" not in found[f"mapreduce.{kind}.java.opts"]
        assert "-XX:+UseSerialGC" in found[f"mapreduce.{kind}.java.opts"]
        heap = round(int(profile[f"mapreduce.{kind}.memory.mb"]) * share)
        assert f"-Xmx{heap}m " in profile[f"mapreduce.{kind}.java.opts"]


def test_the_defaults_of_a_site_contradict_nothing(tmp_path: Path) -> None:
    assert contradictions(as_mapping(switched(tmp_path)), None) == []


def test_a_container_of_a_profile_is_not_rounded_up() -> None:
    for name in ("default", "short", "long"):
        sizes = {
            k: v
            for k, v in profile_properties(name).items()
            if k.endswith((".memory.mb", ".resource.mb"))
        }
        assert sizes
        assert all(int(size) % 256 == 0 for size in sizes.values())
