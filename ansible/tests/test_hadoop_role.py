"""What the role `hadoop` makes of what it sees on a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from vas_ansible.hadoop import CHILD_ARGUMENTS

ROLE = Path(__file__).parents[1] / "roles/hadoop"
UNITS = ROLE.parents[2] / "yarn/systemd"

pytestmark = pytest.mark.machine  # importing Ansible looks for a controller of jobs


def tasks(name: str) -> list[dict[str, Any]]:
    file = str(ROLE / f"tasks/{name}.yml")
    return list(DataLoader().load_from_file(file, trusted_as_template=True))


def task(file: str, name: str) -> dict[str, Any]:
    (found,) = [task for task in tasks(file) if task["name"] == name]
    return found


def wanted(found: dict[str, Any], **known: object) -> bool:
    """Whether a task's `when` lets it run."""
    return bool(Templar(DataLoader(), variables=known).evaluate_conditional(found["when"]))


@pytest.mark.parametrize(("status", "made"), [(0, True), (32, False)])
def test_directories_are_made_on_what_was_mounted_by_the_same_run(status: int, made: bool) -> None:
    """Facts are older than the mount, and have no mount that is not of a device."""
    found = task("present", "Create the directories of YARN and its users on the mount")
    before = {"ansible_facts": {"mounts": []}, "vas_cluster": {"lustre": {"mount": "/scratch"}}}
    here = {"vas_hadoop_directories": True, "__vas_hadoop_is_manager": True}
    assert wanted(found, **before, **here, __vas_hadoop_mounted={"rc": status}) is made
    names = [one["name"] for one in tasks("present")]
    looked = names.index("Check whether a file system is mounted on the map's mount point")
    assert names.index(found["name"]) == looked + 1
    assert tasks("present")[looked]["check_mode"] is False


# systemd.exec(5) of systemd 252, NoNewPrivileges=: what has it on for a service with User=.
_IMPLY = {
    *("DynamicUser", "LockPersonality", "MemoryDenyWriteExecute", "PrivateDevices"),
    *("ProtectClock", "ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules"),
    *("ProtectKernelTunables", "RestrictAddressFamilies", "RestrictNamespaces"),
    *("RestrictRealtime", "RestrictSUIDSGID", "SystemCallArchitectures", "SystemCallFilter"),
    "SystemCallLog",
}


def settings(text: str) -> dict[str, str]:
    """The last value of each setting of a unit."""
    lines = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {name: value for name, _, value in lines}


def test_the_setuid_program_may_change_its_user() -> None:
    unit = settings((UNITS / "vas-nodemanager.service").read_text())
    drop_in = settings((ROLE / "templates/executor.conf.j2").read_text())
    in_force = unit | drop_in
    assert unit.keys() & _IMPLY
    for name in in_force.keys() & (_IMPLY | {"NoNewPrivileges"}):
        assert in_force[name] in ("", "no"), name
    # Without a bounding set of capabilities, and not on a file system without setuid programs.
    assert not in_force.keys() & {"CapabilityBoundingSet", "SecureBits", "PrivateUsers"}


def variables() -> dict[str, Any]:
    file = str(ROLE / "vars/main.yml")
    return dict(DataLoader().load_from_file(file, trusted_as_template=True))


@pytest.mark.parametrize(("manager", "chosen"), [(True, True), (True, False), (False, True)])
def test_the_janitor_is_the_manager_s_and_goes_where_it_is_not_wanted(
    manager: bool, chosen: bool
) -> None:
    known = variables() | {"vas_hadoop_janitor": chosen, "__vas_hadoop_is_manager": manager}
    here, gone = (
        wanted(task("present", name), **known)
        for name in (
            "Install the janitor, which removes what ended jobs left",
            "Remove the janitor where the inventory excludes one",
        )
    )
    assert here is not gone
    assert here is (manager and chosen)


def test_every_unit_of_the_plugins_is_installed_by_the_role() -> None:
    known = variables()
    installed = {f"vas-{name}.service" for name in known["__vas_hadoop_all_daemons"]}
    kinds = task("janitor", "Install the janitor's units")["loop"]
    installed |= {f"{known['__vas_hadoop_janitor']}.{kind}" for kind in kinds}
    # The role `monitoring` installs this one, on storage servers.
    assert installed | {"vas-jobstats.service"} == {unit.name for unit in UNITS.iterdir()}


def test_the_janitor_s_units_stamps_and_timers_go() -> None:
    timer = "vas-shuffle-gc@scratch-yarn-staging.timer"
    found = [{"path": f"/etc/systemd/system/timers.target.wants/{timer}"}]
    known = variables() | {"__vas_hadoop_timers": {"files": found}}
    (block,) = [one["block"] for one in tasks("janitor_absent") if "block" in one]
    last = Templar(DataLoader(), variables=known).template(block[-1]["loop"])
    assert last == [
        "/etc/systemd/system/vas-shuffle-gc@.service",
        "/etc/systemd/system/vas-shuffle-gc@.timer",
        f"/var/lib/systemd/timers/stamp-{timer}",
    ]


def test_a_user_has_the_directory_that_verify_writes_to() -> None:
    """And one that is there stays as it is, whoever's it is."""
    known: dict[str, Any] = {"vas_hadoop_users": ["ann", "bob"]}
    look = task("directories", "Check which users have a home directory on the mount")
    looked = Templar(DataLoader(), variables=known).template(look["loop"])
    defaults = DataLoader().load_from_file(
        str(ROLE.parent / "verify/defaults/main.yml"), trusted_as_template=True
    )
    verify = Templar(DataLoader(), variables={"vas_verify_user": "ann"})
    assert verify.template(defaults["vas_verify_directory"]).lstrip("/") in looked

    seen = [{"item": path, "stat": {"exists": path == "user/bob"}} for path in looked]
    known["__vas_hadoop_homes"] = {"results": seen}
    made = task("directories", "Create the missing home directories on the mount")
    rest = Templar(DataLoader(), variables=known).template(made["loop"])
    owned = {}
    for item in rest:
        values = Templar(DataLoader(), variables={"item": item})
        file = made["ansible.builtin.file"]
        owned[item["item"]] = tuple(values.template(file[key]) for key in ("owner", "mode"))
    assert owned == {"user": ("root", "0755"), "user/ann": ("ann", "0700")}


def remembered(*there: str) -> str:
    """What the role writes down before its first daemon starts."""
    known = variables()
    state = [
        {"item": path, "stat": {"exists": path in there}} for path in known["__vas_hadoop_state"]
    ]
    (block,) = [one["block"] for one in tasks("before") if "block" in one]
    known |= {"__vas_hadoop_state_before": {"results": state}} | block[-1]["vars"]
    return str(
        Templar(DataLoader(), variables=known).template(
            block[-1]["ansible.builtin.copy"]["content"]
        )
    )


def test_a_directory_that_was_there_before_stays() -> None:
    assert remembered() == ""
    said = remembered("/var/lib/yarn", "/var/log/yarn")
    assert said == "/var/lib/yarn\n/var/log/yarn\n"
    gone = task("absent", "Remove the daemons' directories")

    def goes(item: str, *mounts: str) -> bool:
        seen = {"__vas_hadoop_mounts": {"stdout_lines": ["/", *mounts]}}
        theirs = {"__vas_hadoop_theirs": {"stdout_lines": said.splitlines()}}
        return wanted(gone, **seen, **theirs, item=item)

    assert not goes("/var/lib/yarn")
    assert goes("/var/lib/mapred")
    assert not goes("/var/lib/mapred", "/var/lib/mapred/disk")


@pytest.mark.parametrize("installed", [False, True])
def test_what_was_there_is_asked_once_and_not_of_an_installation(installed: bool) -> None:
    """After a daemon has started, its directories are there by itself."""
    results = [{"stat": {"exists": False}}, {"stat": {"exists": installed}}]
    block = task("before", "Record which of the daemons' directories existed before the role")
    assert wanted(block, __vas_hadoop_installed={"results": results}) is not installed
    names = [one["name"] for one in tasks("present")]
    assert names.index("Record the directories that existed before the role") < names.index(
        "Restart the daemons if their configuration has changed"
    )


def test_jars_are_for_all_to_read_whatever_the_umask() -> None:
    """The archive has no directories: tar would make them for root alone."""
    install = tasks("install")
    made = task("install", "Create the directories of the release")
    known = {"__vas_hadoop_directory": "/lib", "__vas_hadoop_release": "/lib/release-1"}
    paths = Templar(DataLoader(), variables=known).template(made["loop"])
    linked = task("install", "Link the jars to the release")["loop"]
    assert {f"/lib/release-1/{name}" for name in linked} <= set(paths)
    assert made["ansible.builtin.file"]["mode"] == "0755"
    unpacked = next(number for number, one in enumerate(install) if "block" in one)
    assert install.index(made) < unpacked


def made(file: str, name: str, **known: Any) -> dict[str, dict[str, str]]:
    """Path below the mount -> what a task of the role makes there, for each item of its loop."""
    found = task(file, name)
    known |= variables() | {"vas_cluster": {"lustre": {"mount": ""}}}
    loop = found["loop"]
    items = Templar(DataLoader(), variables=known).template(loop)
    created = {}
    for item in items:
        templar = Templar(DataLoader(), variables=known | {"item": item, "omit": "(omitted)"})
        values = {k: templar.template(v) for k, v in found["ansible.builtin.file"].items()}
        created[values["path"]] = values
    return created


def test_H3_a_user_s_history_is_the_history_server_s_to_read() -> None:
    """As HDFS would have it: the group of the directory above, by the setgid bit."""
    own = made("directories", "Create YARN's directories on the mount")
    between = own["/yarn/staging/history/done_intermediate"]
    assert (between["owner"], between["group"], between["mode"]) == ("mapred", "hadoop", "3777")
    users = made(
        "directories",
        "Create the staging directories of the queues' users",
        vas_hadoop_users=["ann"],
    )
    history = users["/yarn/staging/history/done_intermediate/ann"]
    assert (history["owner"], history["group"], history["mode"]) == ("ann", "hadoop", "2770")
    logs = users["/yarn/logs/ann"]
    assert (logs["owner"], logs["group"], logs["mode"]) == ("yarn", "hadoop", "2770")
    placement = users["/yarn/placement/ann"]
    assert placement == logs | {"path": "/yarn/placement/ann"}
    staging = users["/yarn/staging/ann"]
    assert (staging["owner"], staging["mode"]) == ("ann", "0700")
    readable = task(
        "directories", "Grant each user the logs of its jobs, and the decisions about them"
    )
    assert readable["vas.site.vas_acl"]["user"] == "{{ item.0 }}"


def test_H3_root_follows_no_link_where_users_write() -> None:
    for one in tasks("directories"):
        if "ansible.builtin.file" in one:
            assert one["ansible.builtin.file"]["follow"] is False, one["name"]


def test_the_argument_file_is_there_before_the_configuration_names_it() -> None:
    """A container on a node without the file does not start."""
    names = [one["name"] for one in tasks("configuration")]
    written = names.index("Write Hadoop's configuration files")
    assert names.index("Build the archive of classes and its argument file") < written
    removed = "Remove the archive of classes where the inventory excludes one"
    assert written < names.index(removed)
    for wish in (True, False):
        built = task("configuration", "Build the archive of classes and its argument file")
        assert wanted(built, vas_hadoop_class_archive=wish) is wish
        assert wanted(task("configuration", removed), vas_hadoop_class_archive=wish) is not wish


def test_the_argument_file_is_the_one_that_the_configuration_names() -> None:
    known = variables()
    file = Templar(DataLoader(), variables=known).template(known["__vas_hadoop_child_arguments"])
    assert file == CHILD_ARGUMENTS


@pytest.mark.parametrize("before", [True, False])
def test_a_directory_of_modulefiles_that_the_role_made_goes_when_it_is_empty(before: bool) -> None:
    known = variables() | {"vas_hadoop_modulefiles": "/opt/modulefiles"}
    (block,) = [one["block"] for one in tasks("before") if "block" in one]
    looked = Templar(DataLoader(), variables=known).template(block[0]["loop"])
    assert looked == [*known["__vas_hadoop_state"], "/opt/modulefiles"]
    known["__vas_hadoop_theirs"] = {"stdout_lines": ["/opt/modulefiles"] if before else []}
    last = task("absent", "Remove the directories that are now empty")[
        "vas.site.vas_empty_directories"
    ]
    gone = Templar(DataLoader(), variables=known).template(last["paths"])
    assert ("/opt/modulefiles" in gone) is not before
    none = Templar(DataLoader(), variables=known | {"vas_hadoop_modulefiles": ""})
    assert "" not in none.template(block[0]["loop"]) + none.template(last["paths"])
