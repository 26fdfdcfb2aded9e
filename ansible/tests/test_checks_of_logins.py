"""Checks of login nodes, and of users' numbers on all nodes, before any change."""

from __future__ import annotations

from typing import Any

import pytest
from machines import GUEST, LOGIN, MANAGER, SITE, WITH_LOGIN, checks, guest, login
from modules import load

from vas_ansible.checks import CheckFinding, MachineFacts, examine_machine, usual_numbers

EXECUTOR = {"vas_hadoop_container_executor": "/opt/container-executor"}


def findings(facts: MachineFacts, **settings: object) -> list[CheckFinding]:
    return examine_machine(WITH_LOGIN, LOGIN, facts, settings)


def test_a_good_login_node_has_nothing_wrong_whatever_its_firewall_keeps_out() -> None:
    """Nobody connects to a login node: masters and guests answer its users."""
    shut = {"zones": {"eth0": {"zone": "public", "target": "default"}}}
    assert findings(login(firewall=shut)) == []


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"hostname": "login2"}, "name"),
        ({"synchronised": False}, "time"),
        ({"link_protection": {"fs.protected_hardlinks": 1}}, "links"),
        ({"interfaces": {}}, "address"),
        ({"kernel": "5.14.0-999.1.1.el9_9.x86_64", "lustre": "2.16.1"}, "lustre"),
        ({"site_lnet": True}, "mount"),
        ({"site_lnet": True, "lustre_mounts": ["/elsewhere"]}, "mount"),
    ],
)
def test_each_thing_that_is_wrong_is_found(changed: dict[str, Any], wrong: str) -> None:
    assert [found.check for found in findings(login(**changed))] == [wrong]


def test_a_site_s_own_client_may_be_any_lustre_that_is_mounted() -> None:
    own = {"kernel": "5.14.0-999.1.1.el9_9.x86_64", "lustre": "2.16.1", "site_lnet": True}
    mounted = [str(SITE.lustre.mount)]
    assert findings(login(**own, lustre_mounts=mounted)) == []


def test_a_login_node_knows_where_masters_and_the_resourcemanager_are() -> None:
    names = login().names
    (found,) = findings(login(names={**names, GUEST: []}))
    assert (found.check, found.what) == ("dns", f"{GUEST} has no address here")
    (found,) = findings(login(names={}))
    assert found.what.endswith("have no address here") and MANAGER in found.what
    (found,) = findings(login(names={**names, GUEST: ["192.0.2.99"]}))
    assert found.what == f"{GUEST} is 192.0.2.99 here, and 192.0.2.111 in the map"
    assert findings(login(names={**names, GUEST: ["192.0.2.111", "2001:db8::1"]})) == []


def test_a_user_whom_a_login_node_does_not_know_is_a_warning() -> None:
    strange = login(users={"ann": 2001, "bob": None})
    assert findings(strange) == []
    (found,) = findings(strange, **EXECUTOR)
    assert (found.check, found.warns) == ("users", True)
    assert found.what == "nobody knows bob, whom the map's queues name"


def test_a_user_has_one_number_on_all_nodes() -> None:
    known: dict[str, dict[str, int | None]] = {
        MANAGER: {"ann": 2001, "bob": None},
        GUEST: {"ann": 2001, "bob": 2002},
        LOGIN: {"ann": 3001, "bob": None},
    }
    usual = usual_numbers(known)
    assert usual == {"ann": 2001, "bob": 2002}
    (found,) = findings(login(users=known[LOGIN]), numbers=usual)
    assert (found.check, found.warns) == ("users", False)
    assert found.what == "ann has the number 3001 here, and 2001 on most nodes"
    other = MachineFacts.model_validate(guest().model_dump() | {"users": {"ann": 3001}})
    assert checks(other, GUEST, numbers=usual) == ["users"]
    same = MachineFacts.model_validate(guest().model_dump() | {"users": known[GUEST]})
    assert checks(same, GUEST, numbers=usual) == []


def test_the_numbers_are_of_the_machines_that_were_read() -> None:
    filters = load("filter/vas_checks.py").FilterModule().filters()
    hostvars = {
        GUEST: {"read": {"vas_facts": {"users": {"ann": 2001}}}},
        MANAGER: {"read": {"unreachable": True, "msg": "no route"}},
        LOGIN: {},
    }
    found = filters["vas_user_numbers"](hostvars, [GUEST, MANAGER, LOGIN], "read")
    assert found == {"ann": 2001}


def test_mounts_of_lustre_are_read_with_their_spaces() -> None:
    mounts = (
        "proc /proc proc rw 0 0\n"
        "192.0.2.1@tcp:/vas /lustre lustre rw,flock 0 0\n"
        r"192.0.2.1@tcp:/two /mnt/two\040words lustre rw 0 0" + "\n"
    )
    facts = load("modules/vas_facts.py")
    assert facts.lustre_mounts(mounts) == ["/lustre", "/mnt/two words"]
