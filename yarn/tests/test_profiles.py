"""Profiles: what stands in their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_core.errors import BadInput
from vas_yarn.lint.rules import contradictions
from vas_yarn.profiles import PROFILES, SHUFFLE, profile_file, profile_properties
from vas_yarn.site_files import as_mapping, read_xml


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_contradicts_nothing(name: str) -> None:
    assert contradictions(as_mapping(profile_properties(name)), None) == []


@pytest.mark.parametrize("name", PROFILES)
def test_all_but_off_switch_the_shuffle_on(name: str) -> None:
    properties = profile_properties(name)
    assert (properties.items() >= SHUFFLE.items()) == (name != "off")


@pytest.mark.parametrize("name", ["shuffle", "warm", *PROFILES])
def test_every_value_has_its_reason(name: str) -> None:
    text = profile_file(name).read_text()
    entries = text.split("<property>")[1:]
    without = [entry for entry in entries if "<!--" not in entry]
    # What a file is about stands at its head.
    assert text.index("<!--") < text.index("<configuration")
    assert name in ("shuffle", "off") or without == []


@pytest.mark.parametrize("name", PROFILES)
def test_short_tasks_ask_for_warm_containers(name: str) -> None:
    properties = profile_properties(name)
    asks = properties.get("vas.containers.reuse")
    assert asks == ("auto" if name in ("default", "short") else "off")
    # `vas submit` adds the master: a file alone starts a job on any Hadoop.
    assert "VasAppMaster" not in properties.get("yarn.app.mapreduce.am.command-opts", "")


@pytest.mark.parametrize("name", ["default", "short"])
def test_a_reduce_may_run_in_the_container_of_a_map(name: str) -> None:
    properties = profile_properties(name)
    maps, reduces = (
        {
            key.removeprefix(f"mapreduce.{kind}."): value
            for key, value in properties.items()
            if key.startswith(f"mapreduce.{kind}.")
        }
        for kind in ("map", "reduce")
    )
    assert maps == reduces
    assert {"memory.mb", "java.opts"} <= maps.keys()


def test_included_files_are_read_where_they_are_named(tmp_path: Path) -> None:
    top = '<configuration xmlns:xi="http://www.w3.org/2001/XInclude">{}</configuration>'
    one = "<property><name>a</name><value>{}</value></property>"
    (tmp_path / "in.xml").write_text(top.format(one.format("in")))
    include = '<xi:include href="in.xml"/>'
    (tmp_path / "top.xml").write_text(top.format(one.format("top") + include))
    assert [found.value for found in read_xml(tmp_path / "top.xml")] == ["top", "in"]
    (tmp_path / "in.xml").write_text(top.format(include))
    with pytest.raises(BadInput, match=r"includes itself; remove the <xi:include>"):
        read_xml(tmp_path / "top.xml")
