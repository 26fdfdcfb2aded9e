"""What LNet needs: nothing for tcp NIDs, a preferred second network for o2ib ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from site_map import site

from vas_cluster import Cluster
from vas_core.errors import BadInput
from vas_routing.lnet import NidKind, lnet_plan

HERE = Path(__file__).parent / "lnet"
SCHEMA = json.loads((HERE / "import.schema.json").read_text())


def with_nids(net: str, *more: str, version: int = 4, guests: bool = True) -> Cluster:
    """The small site with the hosts' addresses as NIDs of an LNet network; oss1 with more."""
    cluster = site(version)
    hosts = []
    for host in cluster.hosts:
        nids = [f"{host.address}@{net}", *(more if host.name == "oss1" else ())]
        kept = host.guests if guests else []
        hosts.append(host.model_copy(update={"nids": nids, "guests": kept}))
    return cluster.model_copy(update={"hosts": hosts})


def as_lnetctl_reads(text: str) -> Any:
    """Every scalar as its text: lnetctl makes its own of them."""
    return yaml.load(text, Loader=yaml.BaseLoader)


def plan(cluster: Cluster, node: str) -> Any:
    text = lnet_plan(cluster, node).yaml
    assert text is not None
    return as_lnetctl_reads(text)


def get_object_item(items: Any, name: str) -> Any:
    """lnetctl's cYAML_get_object_item on the first of some items: its keys, what is in them, and
    then the items after it."""
    for item in items:
        for key, value in item.items():
            if key == name:
                return value
            inside = [value] if isinstance(value, dict) else value
            if isinstance(inside, list) and (found := get_object_item(inside, name)) is not None:
                return found
    return None


@pytest.mark.parametrize("name", ["net-show", "peer-show", "udsp-show", "vm1", "oss1"])
def test_the_schema_takes_what_lnetctl_prints_and_what_we_make(name: str) -> None:
    text = (HERE / f"{name}.yaml").read_text()
    jsonschema.validate(as_lnetctl_reads(text), SCHEMA)


@pytest.mark.parametrize("node", ["vm1", "oss1"])
def test_the_plan_of_o2ib_is_the_golden_one(node: str) -> None:
    made = lnet_plan(with_nids("o2ib"), node)
    assert made.kind is NidKind.O2IB
    assert made.yaml == (HERE / f"{node}.yaml").read_text()
    assert made.explanation[0].startswith("Not run on hardware")


def test_the_file_says_that_it_was_not_run_and_is_the_same_yaml() -> None:
    made = lnet_plan(with_nids("o2ib"), "vm1")
    assert made.as_file().startswith("# Not run on hardware")
    assert as_lnetctl_reads(made.as_file()) == plan(with_nids("o2ib"), "vm1")
    assert made.as_json()["yaml"] == made.yaml


def test_each_host_has_a_virtio_network_of_its_own() -> None:
    cluster = with_nids("o2ib1")
    nets = {node: plan(cluster, node)["net"][1]["net type"] for node in ("oss1", "oss2", "oss3")}
    assert nets == {"oss1": "tcp213", "oss2": "tcp214", "oss3": "tcp215"}
    assert plan(cluster, "vm4")["net"][1]["net type"] == "tcp213"
    assert plan(cluster, "vm2")["peer"][0]["peer ni"][1]["nid"] == "169.254.213.1@tcp214"


def test_networks_of_the_map_are_not_taken() -> None:
    cluster = with_nids("o2ib", "10.5.0.1@tcp213")
    assert plan(cluster, "oss1")["net"][1]["net type"] == "tcp214"
    assert plan(cluster, "oss3")["net"][1]["net type"] == "tcp216"
    nids = [ni["nid"] for ni in plan(cluster, "vm1")["peer"][0]["peer ni"]]
    assert nids == ["10.77.0.11@o2ib", "10.5.0.1@tcp213", "169.254.213.1@tcp214"]


@pytest.mark.parametrize("node", ["vm1", "oss1"])
def test_no_item_borrows_a_key_from_the_next(node: str) -> None:
    document = plan(with_nids("o2ib"), node)
    read = {
        "net": ("seq_no", "ip2net", "net type", "local NI(s)", "tunables"),
        "peer": ("seq_no", "primary nid", "peer ni", "Multi-Rail"),
        "udsp": ("seq_no", "src", "rte", "dst", "priority", "idx"),
    }
    for section, keys in read.items():
        for at, item in enumerate(document[section]):
            for key in keys:
                own = get_object_item([item], key)
                assert get_object_item(document[section][at:], key) == own


def test_two_kinds_of_rules_would_borrow() -> None:
    rules = [{"src": "tcp213", "action": {"priority": "0"}}, {"dst": "10.0.0.1@o2ib"}]
    assert get_object_item(rules, "dst") == "10.0.0.1@o2ib"


def test_the_rule_prefers_the_virtio_network() -> None:
    (rule,) = plan(with_nids("o2ib"), "vm1")["udsp"]
    assert rule == {"src": "tcp213", "action": {"priority": "0"}}


def test_tcp_needs_nothing_imported() -> None:
    made = lnet_plan(site(), "vm1")
    assert (made.kind, made.yaml) == (NidKind.TCP, None)
    assert "skip_mr_route_setup=1" in made.explanation[-1]


@pytest.mark.parametrize(
    ("cluster", "kind", "why"),
    [
        (with_nids("gni"), NidKind.OTHER, "a network of its own"),
        (with_nids("tcp", "10.9.0.1@o2ib"), NidKind.O2IB, "No o2ib NID of oss1"),
        (with_nids("o2ib", version=6), NidKind.O2IB, "needs an IPv4 address"),
        (with_nids("o2ib", guests=False), NidKind.O2IB, "has no guest"),
    ],
)
def test_where_there_is_nothing_to_make(cluster: Cluster, kind: NidKind, why: str) -> None:
    made = lnet_plan(cluster, "oss1")
    assert (made.kind, made.yaml) == (kind, None)
    assert why in made.explanation[0]


def test_a_node_that_the_map_does_not_have() -> None:
    with pytest.raises(BadInput, match="no host or guest is named vm9"):
        lnet_plan(site(), "vm9")
