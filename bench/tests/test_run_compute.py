"""Jobs on compute nodes: beside the storage servers, as many, without an OST."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from vas_bench.run.experiments import experiments
from vas_bench.run.lab_links import link_counters
from vas_bench.run.plan import BenchPlan
from vas_cluster import parse_cluster
from vas_core.errors import BadInput
from vas_lab.links.totals import LinkTotals, WireBytes
from vas_lab.sites import compute_site


def test_guests_are_on_hosts_without_osts_and_servers_have_none() -> None:
    cluster = parse_cluster(yaml.safe_dump(compute_site(3)), Path("lab"))
    with_osts = [host for host in cluster.hosts if host.osts]
    with_guests = [host for host in cluster.hosts if host.guests]
    assert len(with_osts) == len(with_guests) == 3
    assert not set(map(id, with_osts)) & set(map(id, with_guests))
    guest = with_guests[0].guests[0].name
    crossed = LinkTotals((WireBytes(guest, with_osts[0].name, 5, 2),))
    counted = link_counters(crossed, cluster)
    assert (counted["link_bytes/own host"], counted["link_bytes/other hosts"]) == (0, 7)
    with pytest.raises(BadInput, match="33 hosts"):
        compute_site(33)


def test_they_have_a_lab_of_their_own_with_map_output_on_lustre() -> None:
    systems = ["yarn-compute", "yarn-lustre-intermediate", "vas"]
    plan = BenchPlan.model_validate({"name": "p", "workloads": "terasort", "systems": systems})
    away, near, ours = experiments(plan)
    assert away.is_on_compute_nodes and away.is_all_on_lustre and near.is_all_on_lustre
    assert not near.is_on_compute_nodes and not ours.is_on_compute_nodes
    assert len({away.site, near.site, ours.site}) == 3
