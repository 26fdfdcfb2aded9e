"""A job's settings on a site are those it was measured with in the lab, or differ for a reason.

A site's are made by the role `hadoop` from its own defaults, by the expression that it writes with.
"""

from __future__ import annotations

import shlex
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import init_plugin_loader
from ansible.template import Templar
from click.testing import CliRunner

from vas_ansible.hadoop import CHILD_ARGUMENTS, CONFIGURATION, PROGRAMS
from vas_ansible.readme import ROLES
from vas_cluster import parse_cluster
from vas_lab.hadoop.configuration import child_arguments, configuration
from vas_lab.sites import lab_site_yaml
from vas_lab.spec import LabSpec
from vas_tests.pages import DOCS, table
from vas_yarn.cds.commands import cds
from vas_yarn.lint.rules import contradictions
from vas_yarn.profiles import SHUFFLE, profile_properties
from vas_yarn.site_files import as_mapping, read_xml, site_properties
from vas_yarn.submit.master import MASTER, OPTIONS_KEY
from vas_yarn.submit.plan import SubmittedJob, plan

pytestmark = pytest.mark.machine  # importing Ansible looks for a controller of jobs
PAGE = DOCS / "site-defaults.md"
ROLE = ROLES / "hadoop"
GUEST = "vm1"
# Less than the default of 2 GiB: the guests of a lab's map have not much more.
RESERVED = {"vas_hadoop_reserved": "1MiB"}
init_plugin_loader([str(ROLES.parents[1] / "collections")])


def role(directory: Path, node: str, **variables: Any) -> Templar:
    """The role's defaults and variables for a node of a lab's map, under those of a site."""
    map_file = directory / "cluster.yaml"
    map_file.write_text(lab_site_yaml(2))
    known: dict[str, Any] = {"inventory_hostname": node, "vas_cluster_file": str(map_file)}
    for file in ("defaults/main.yml", "vars/main.yml"):
        known |= DataLoader().load_from_file(str(ROLE / file), trusted_as_template=True)
    return Templar(DataLoader(), variables=known | RESERVED | variables)


def role_files(directory: Path, node: str, **variables: Any) -> dict[str, str]:
    """File name -> XML of a node, as the role writes it."""
    made = role(directory, node, **variables)
    files: dict[str, str] = made.template(made.available_variables["__vas_hadoop_files"])
    return files


def _plugin_jar(directory: Path) -> Path:
    directory.mkdir(parents=True)
    jar = directory / "vas-yarn-plugins-0.1.0.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("org/vas/app/VasAppMaster.class", b"")
    return jar


def submitted(properties: dict[str, str], profile: str) -> dict[str, str]:
    """What a job gets by `vas submit` with a profile, or by a plain `hadoop jar` where it is ""."""
    if not profile:
        return properties
    job = SubmittedJob(Path("my.jar"), (), (), {})
    return dict(plan(job, profile, properties, {}).properties)


def site_job(directory: Path, profile: str, **variables: Any) -> dict[str, str]:
    """The properties of a job that is submitted on a site of the map of a lab, and its daemons'."""
    jar = _plugin_jar(directory / "plugins")
    manager = parse_cluster(lab_site_yaml(2), "lab").yarn.resourcemanager.name
    arguments = directory / "vas-child.args"
    arguments.write_text(f'-cp "{jar}"\n')
    found: dict[str, str] = {}
    for node in (manager, GUEST):
        for text in role_files(directory, node, **variables).values():
            (directory / "one.xml").write_text(text)
            found |= {each.key: each.value for each in read_xml(directory / "one.xml")}
    here = {CHILD_ARGUMENTS: str(arguments), f"{PROGRAMS}/plugins": str(jar.parent)}
    for word, path in here.items():
        found = {key: value.replace(word, path) for key, value in found.items()}
    made = submitted(found, profile)
    for word, path in here.items():
        made = {key: value.replace(path, word) for key, value in made.items()}
    return made


def lab_spec(directory: Path) -> LabSpec:
    jar = _plugin_jar(directory / "plugins")
    hadoop = directory / "hadoop"
    hadoop.mkdir()
    (hadoop / "hadoop.jar").touch()
    (directory / "cluster.yaml").write_text(lab_site_yaml(2))
    spec = LabSpec(
        name="x",
        state_dir=directory,
        hadoop_lib=hadoop,
        plugin_jar=jar,
        java_home=Path("/jdk"),
        user_namespace=True,
    )
    spec.child_arguments.parent.mkdir(parents=True, exist_ok=True)
    spec.child_arguments.write_text(f'-cp "{jar}"\n')
    return spec


def lab_job(directory: Path, profile: str) -> dict[str, str]:
    """The properties of a job that is submitted in a lab, and those of the lab's daemons."""
    files = configuration(lab_spec(directory)).values()
    return submitted({k: v for file in files for k, v in file.items()}, profile)


def differing(site: dict[str, str], lab: dict[str, str]) -> dict[str, tuple[object, object]]:
    """Key -> its value on a site and in a lab, where they differ; None: it is not set."""
    found = {key: (site.get(key), lab.get(key)) for key in sorted(site.keys() | lab.keys())}
    return {key: values for key, values in found.items() if values[0] != values[1]}


FROM_LAB, PLAIN = "Differences from the lab", "Differences of a plain `hadoop jar`"
ARGUMENTS = "Differences of the argument files"


def mistakes(found: dict[str, tuple[object, object]], *headings: str) -> set[str]:
    """What tables of the page say wrongly of the differences that were found.

    A difference that no row names; a row of the last table that none needs, or without a reason;
    a site's value in backticks that is not in the site's.
    """
    tables = [table(PAGE, heading) for heading in headings]
    rows = {row[0].strip("`"): row for each in tables for row in each}
    made = {f"not listed: {key}" for key in found if not _rows_of(key, rows)}
    made |= {f"no reason: {glob}" for glob, row in rows.items() if not row[-1]}
    last = {row[0].strip("`") for row in tables[-1]}
    made |= {f"stale: {g}" for g in last if not any(fnmatchcase(key, g) for key in found)}
    for key, (site, _) in found.items():
        cells = [row[1] for row in _rows_of(key, rows)]
        values = [cell.strip("`") for cell in cells if cell.startswith("`")]
        made |= {f"{key}: {site}, not {value}" for value in values if value not in str(site)}
    return made


def _rows_of(key: str, rows: dict[str, list[str]]) -> list[list[str]]:
    return [row for glob, row in rows.items() if fnmatchcase(key, glob)]


def compared(tmp_path: Path, profile: str, **variables: Any) -> dict[str, tuple[object, object]]:
    site = site_job(tmp_path / "site", profile, **variables)
    return differing(site, lab_job(tmp_path / "lab", profile))


def test_each_difference_from_the_lab_is_in_the_page_with_its_reason(tmp_path: Path) -> None:
    assert mistakes(compared(tmp_path, "short"), FROM_LAB) == set()


def test_each_difference_of_a_plain_job_is_in_the_page_with_its_reason(tmp_path: Path) -> None:
    assert mistakes(compared(tmp_path, ""), FROM_LAB, PLAIN) == set()


def test_a_plain_job_of_a_site_has_what_the_profile_default_says(tmp_path: Path) -> None:
    """Its containers' memory is Hadoop's default, and a heap follows from it."""
    site = site_job(tmp_path / "site", "")
    sizes = ("memory.mb", "java.opts")
    derived = {f"mapreduce.{kind}.{of}" for kind in ("map", "reduce") for of in sizes}
    wanted = profile_properties("default").items()
    assert site.items() >= {(key, value) for key, value in wanted if key not in derived}


@pytest.mark.parametrize(
    "changed",
    [
        {"vas_hadoop_profile": "none"},
        {"vas_hadoop_profile": "talk"},
        {"vas_hadoop_jvm": "talk"},
        {"vas_hadoop_class_archive": False},
    ],
    ids=str,
)
def test_another_default_of_the_role_is_noticed(changed: dict[str, Any], tmp_path: Path) -> None:
    assert mistakes(compared(tmp_path, "", **changed), FROM_LAB, PLAIN)


def flags(text: str, places: dict[str, str]) -> dict[str, str]:
    """Flag -> value of an argument file, with the word of `places` instead of a path."""
    for path, word in places.items():
        text = text.replace(path, word)
    words = shlex.split(text)
    if "-cp" in words:
        at = words.index("-cp")
        words[at : at + 2] = [f"-cp={words[at + 1]}"]
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def test_each_difference_of_the_argument_files_is_in_the_page(tmp_path: Path) -> None:
    """The site's is what the role asks `vas cds arguments` for, of directories that are here."""
    spec = lab_spec(tmp_path / "lab")
    made = role(tmp_path, GUEST).available_variables
    plugins = tmp_path / "lab/plugins"
    path = ":".join((str(spec.conf), f"{spec.hadoop_lib}/*", f"{plugins}/*"))
    assert made["__vas_hadoop_class_path"].count(":") == path.count(":")
    archive = made["__vas_hadoop_archive_of_classes"]
    words = ["arguments", "--directory", archive, "--classpath", path]
    done = CliRunner().invoke(cds, words, catch_exceptions=False)
    assert done.exit_code == 0
    places = {str(spec.conf): CONFIGURATION}
    site, lab = flags(done.output, places), flags(child_arguments(spec), places)
    assert mistakes(differing(site, lab), ARGUMENTS) == set()


def switched(tmp_path: Path, **properties: str) -> dict[str, str]:
    """What `hadoop jar` gives a job on a site with these properties, by its site files alone."""
    keys = {key.replace("_", "."): value for key, value in properties.items()}
    files = role_files(tmp_path, GUEST, vas_hadoop_properties=keys, vas_hadoop_class_archive=False)
    for name in ("mapred-site.xml", "core-site.xml"):
        (tmp_path / name).write_text(files[name])
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
