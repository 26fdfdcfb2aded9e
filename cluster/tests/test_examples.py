"""The example maps: the good ones load, each bad one is refused with its one line."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from vas_cluster import Flock, load_cluster, parse_cluster
from vas_cluster.document import parse_document
from vas_cluster.schema import schema_text
from vas_core.cli import run_command
from vas_core.problems import DocumentProblems
from vas_lab.sites import lab_site_yaml

CLUSTER = Path(__file__).parents[1]
UNUSUAL = sorted((CLUSTER / "examples" / "unusual").glob("*.yaml"))
GOOD = [*sorted((CLUSTER / "examples").glob("*.yaml")), *UNUSUAL]
BAD = sorted((CLUSTER / "examples" / "bad").glob("*.yaml"))


@pytest.mark.parametrize("file", GOOD, ids=lambda f: f.stem)
def test_good_example_loads_and_fits_the_schema(file: Path) -> None:
    cluster = load_cluster(file)
    value, problems = parse_document(file.read_text())
    assert not problems
    jsonschema.validate(value, json.loads(schema_text()))
    for host in cluster.hosts:
        assert cluster.host(host.name) is host
        assert all(cluster.host_by_ost(index) is host for index in host.osts)
        assert all(cluster.host_by_nid(nid) is host for nid in host.nids)


@pytest.mark.parametrize("file", BAD, ids=lambda f: f.stem)
def test_bad_example_is_refused_with_one_line(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(file.parent)
    assert run_command(["cluster", "check", file.name]) == 2
    out, err = capsys.readouterr()
    first, *rest = err.splitlines(keepends=True)
    assert (out, first) == ("", "vas: " + file.with_suffix(".expected").read_text())
    assert rest in ([], [f"vas: {file.name}: more is checked when these are mended\n"])


def test_stored_schema_is_the_generated_one() -> None:
    assert (CLUSTER / "cluster.schema.json").read_text() == schema_text(), (
        "run: vas cluster schema > cluster/cluster.schema.json"
    )


def test_the_page_has_every_key_with_its_meaning() -> None:
    page = (CLUSTER.parent / "docs" / "cluster.md").read_text()
    schema = json.loads(schema_text())
    for mapping in (schema, *schema["$defs"].values()):
        for key, rule in mapping.get("properties", {}).items():
            lines = [line for line in page.splitlines() if f"| {rule['description']} |" in line]
            assert any(line.startswith("| `") and f"{key}" in line for line in lines), key
    for flock in Flock:
        assert f"| `{flock.value}` | {flock.meaning} |" in page


def test_all_problems_come_at_once_in_document_order() -> None:
    text = (CLUSTER / "examples" / "laptop-lab.yaml").read_text()
    broken = text.replace("osts: [1]", "osts: [-1]").replace("fsname: lab", "fsname: la-b")
    with pytest.raises(DocumentProblems) as refused:
        parse_cluster(broken, "x.yaml")
    keys = [problem.path for problem in refused.value.problems]
    assert keys == [("hosts", 1, "osts", 0), ("lustre", "fsname")]


def test_each_problem_is_a_line_of_one_form_and_in_the_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (CLUSTER / "examples" / "laptop-lab.yaml").read_text()
    file = tmp_path / "x.yaml"
    file.write_text(text.replace("osts: [1]", "osts: [-1]").replace("fsname: lab", "fsname: la-b"))
    assert run_command(["cluster", "check", "--json", str(file)]) == 2
    out, err = capsys.readouterr()
    *lines, last = err.splitlines()
    assert len(lines) == 2 and last == f"vas: {file}: more is checked when these are mended"
    (found,) = json.loads(out)
    assert (found["file"], found["ok"], found["hides_more"]) == (str(file), False, True)
    for line, problem in zip(lines, found["problems"], strict=True):
        assert line == "vas: {file}: {key}: {what}; {fix}".format(**problem)
    file.write_text(text.replace("osts: [1]", "osts: [0]"))
    assert run_command(["cluster", "check", str(file)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_without_a_map_the_hints_say_where_to_begin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.yaml"
    assert run_command(["cluster", "check", str(file)]) == 2
    assert "`vas cluster discover`" in capsys.readouterr().err
    file.touch()
    assert run_command(["cluster", "check", str(file)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "x.yaml: is empty; start from one of the examples in cluster/examples" in line


def test_one_of_a_kind_is_told_in_the_singular(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(lab_site_yaml(1))
    assert run_command(["cluster", "check", str(file)]) == 0
    assert capsys.readouterr().err == f"{file}: ok: 1 host, 1 guest, 1 OST\n"


def test_the_resourcemanagers_address_may_be_spelled_otherwise() -> None:
    text = (CLUSTER / "examples" / "laptop-lab.yaml").read_text()
    host = parse_cluster(text, "x").hosts[0]
    lines = text[: text.index("\n  resourcemanager:")]
    manager = f'{{name: {host.name}, address: "::ffff:{host.address}"}}'
    cluster = parse_cluster(f"{lines}\n  resourcemanager: {manager}\n", "x")
    assert cluster.yarn.resourcemanager.name == host.name


def test_a_nid_is_found_however_it_is_spelt() -> None:
    text = (CLUSTER / "examples" / "laptop-lab.yaml").read_text()
    of_a_host = parse_cluster(text, "x").hosts[1].nids[0]
    cluster = parse_cluster(text.replace(f"[{of_a_host}]", '["fd00:0:0:0::12@tcp1"]'), "x")
    assert cluster.host_by_nid("fd00::12@tcp1") is cluster.hosts[1]
    assert cluster.host_by_nid("fd00::12@tcp") is None


def test_a_directory_is_no_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["cluster", "check", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"vas: {tmp_path}: is a directory; name the map's file\n"


def test_yaml_1_2_scalars() -> None:
    value, _ = parse_document(
        "mac: 52:54:00:77:01:01\nword: no\nnumber: 0o17\nreal: 1.5\nyes: true\n"
    )
    assert value == {
        "mac": "52:54:00:77:01:01",
        "word": "no",
        "number": "0o17",
        "real": 1.5,
        "yes": True,
    }


def test_an_alias_bomb_is_refused() -> None:
    levels = "\n".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 12))
    with pytest.raises(DocumentProblems, match="too large"):
        parse_cluster("l0: &l0 [x]\n" + levels, "bomb.yaml")
    with pytest.raises(DocumentProblems, match="too large"):
        parse_cluster("a: &a [*a]\n", "loop.yaml")


def test_a_key_that_is_a_list_and_a_number_without_end() -> None:
    with pytest.raises(DocumentProblems, match="x: has a key that is not a word; write KEY: VALUE"):
        parse_cluster("x: {[1]: 2}\n", "x")
    value, problems = parse_document("n: " + "9" * 5000 + "\n")
    assert not problems
    assert value["n"] == "9" * 5000 or isinstance(value["n"], float)


def test_nesting_without_end_is_refused_and_every_file_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deep, dashes = tmp_path / "deep.yaml", tmp_path / "dashes.yaml"
    deep.write_text("a: " + "[" * 100_000)
    dashes.write_text("- " * 100_000 + "x")
    assert run_command(["cluster", "check", str(deep), str(dashes), str(GOOD[0])]) == 2
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 5
    assert "dashes.yaml: nested too deeply" in err[2]
    assert "ok: 4 hosts" in err[4]
