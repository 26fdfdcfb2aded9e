"""Checks of Lustre's client and servers before any change."""

from __future__ import annotations

from typing import Any

import pytest
from machines import GUEST, MANAGER, OSS, SITE, checks, guest, host, manager

from vas_ansible.checks import examine_machine


def test_lustre_has_to_fit_the_kernel_and_its_headers_be_there() -> None:
    assert checks(guest(), GUEST, vas_lustre_client_version="2.16.0") == []
    newer = guest(kernel="5.14.0-503.40.1.el9_5.x86_64", headers=False)
    wrong = checks(
        newer, GUEST, vas_lustre_client_version="2.16.0", vas_lustre_client_modules="dkms"
    )
    assert wrong == ["lustre", "headers"]
    assert checks(newer, GUEST, vas_lustre_client_version="2.17.0") == []


def nodemaps(*, active: bool = True, admin: bool, ranges: Any = ()) -> dict[str, Any]:
    maps = {"default": {"admin": admin}, "vas_guests": {"admin": False, "ranges": ranges}}
    return {"nodemaps_active": active, "nodemaps": maps}


@pytest.mark.parametrize(
    ("server", "wrong"),
    [
        ({}, False),
        (nodemaps(admin=True), True),
        (nodemaps(admin=False), False),
        (nodemaps(active=False, admin=False), True),
        (nodemaps(admin=True, ranges=[("192.0.2.111@tcp", "192.0.2.114@tcp")]), False),
        (nodemaps(admin=True, ranges=[("192.0.2.111@tcp", "192.0.2.113@tcp")]), True),
        (nodemaps(admin=True, ranges=[("192.0.2.111@o2ib", "192.0.2.114@o2ib")]), True),
    ],
)
def test_S3_guests_are_not_root_on_lustre(server: dict[str, Any], wrong: bool) -> None:
    assert checks(host(server=server)) == ["nodemap"] * wrong
    assert checks(host(server=server), vas_hostcheck_accepted=["nodemap"]) == []


@pytest.mark.parametrize(("group", "wrong"), [(0, True), (-1, False), (862, False)])
def test_R3_users_may_make_the_striped_directories_that_are_asked_for(
    group: int, wrong: bool
) -> None:
    facts = host(server={"remote_dir_gid": {"scratch-MDT0000": group}})
    asked = {"vas_hadoop_properties": {"vas.lustre.mdt-count": 2}}
    assert checks(facts) == []
    assert checks(facts, **asked) == ["mdt"] * wrong
    if wrong:
        (found,) = examine_machine(SITE, OSS, facts, asked)
        assert "lctl set_param -P mdt.*.enable_remote_dir_gid=-1" in found.fix


def test_R3_mdts_of_other_servers_are_not_forgotten() -> None:
    asked = {"vas_hadoop_properties": {"vas.lustre.mdt-count": "2"}}
    (found,) = examine_machine(SITE, MANAGER, manager(), asked)
    assert found.warns and "lctl get_param mdt.*.enable_remote_dir_gid" in found.fix
