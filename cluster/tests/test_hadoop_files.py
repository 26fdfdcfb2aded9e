"""`vas cluster show --hadoop --out DIR`, and login nodes in the map."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from vas_cluster import load_cluster, parse_cluster
from vas_cluster.hadoop import hadoop_properties
from vas_core.cli import run_command
from vas_core.problems import DocumentProblems

EXAMPLE = Path(__file__).parents[1] / "examples" / "four-oss.yaml"


def test_each_property_is_in_one_of_the_files(tmp_path: Path) -> None:
    out = tmp_path / "conf"
    assert run_command(["cluster", "show", str(EXAMPLE), "--hadoop", "--out", str(out)]) == 0
    assert sorted(file.name for file in out.iterdir()) == [
        "capacity-scheduler.xml",
        "core-site.xml",
        "mapred-site.xml",
        "yarn-site.xml",
    ]
    found = {
        each.findtext("name"): each.findtext("value")
        for file in out.iterdir()
        for each in ElementTree.parse(file).getroot()
    }
    assert found == hadoop_properties(load_cluster(EXAMPLE), EXAMPLE.resolve())


def test_a_file_that_is_there_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "yarn-site.xml").write_text("mine")
    argv = ["cluster", "show", str(EXAMPLE), "--hadoop", "--out", str(tmp_path)]
    assert run_command(argv) == 2
    assert "yarn-site.xml: is there already; merge" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["yarn-site.xml"]
    assert run_command(["cluster", "show", str(EXAMPLE), "--out", str(tmp_path)]) == 2


def test_a_login_node_has_a_name_and_an_address_of_its_own() -> None:
    text = EXAMPLE.read_text()

    def with_client(name: str, address: str) -> str:
        client = f"clients: [{{name: {name}, address: {address}}}]"
        return text.replace("\nyarn:\n", f"\nyarn:\n  {client}\n")

    (client,) = parse_cluster(with_client("login01", "192.0.2.9"), "x").yarn.clients
    assert (client.name, client.address) == ("login01", "192.0.2.9")
    for name, address, key in (
        ("oss01.hpc.example", "192.0.2.9", "name"),
        ("login01", "192.0.2.5", "address"),
    ):
        with pytest.raises(DocumentProblems, match=rf"yarn.clients\[0\].{key}: .* is also"):
            parse_cluster(with_client(name, address), "x")
