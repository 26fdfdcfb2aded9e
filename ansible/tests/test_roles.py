"""Each role's options are documented, have defaults and are used; task names have a verb."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from vas_ansible.readme import ROLES, defaults_of, options_of, readme

NAMES = sorted(role.name for role in ROLES.iterdir())
# They judge, and change nothing.
CHECKS = ("hostcheck", "preflight", "verify")


@pytest.fixture(params=NAMES)
def role(request: pytest.FixtureRequest) -> Path:
    return ROLES / str(request.param)


def texts(role: Path, *directories: str) -> str:
    files = (f for d in directories for f in sorted((role / d).rglob("*")) if f.is_file())
    return "\n".join(file.read_text() for file in files)


def tasks(role: Path) -> Iterator[dict[str, Any]]:
    """Every task of a role, those in blocks too."""
    return tasks_in(t for f in sorted((role / "tasks").glob("*.yml")) for t in _read(f))


def tasks_in(listed: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The tasks of a list, and those of its blocks with their rescues and ends."""
    waiting = [*listed]
    while waiting:
        task = waiting.pop()
        yield task
        waiting += [*task.get("block", []), *task.get("rescue", []), *task.get("always", [])]


def _read(file: Path) -> Any:
    return yaml.safe_load(file.read_text())


def test_every_option_has_its_default_and_its_documentation(role: Path) -> None:
    options, defaults = options_of(role), defaults_of(role)
    assert set(options) == set(defaults)
    for name, option in options.items():
        assert option["description"], name
        if "default" in option:
            assert option["default"] == defaults[name], name


def test_a_no_from_the_command_line_is_a_no(role: Path) -> None:
    """`-e vas_guest_restart=false` is a text, and a text that is not empty is true."""
    said = texts(role, "tasks", "handlers", "templates", "vars")
    for option in (name for name, spec in options_of(role).items() if spec.get("type") == "bool"):
        # But where an error says what to set.
        used = re.findall(rf"(?<!-e )(?<!set )\b{option}\b(?!: true| is false).{{,7}}", said)
        assert all(use == f"{option} | bool" for use in used), used


def test_every_option_is_used_and_none_is_used_that_is_not_there(role: Path) -> None:
    directories = ("tasks", "vars", "handlers", "templates")
    used = "".join(texts(ROLES / name, *directories) for name in NAMES)
    others = tuple(f"vas_{name}_" for name in NAMES if name.startswith(f"{role.name}_"))
    found = set(re.findall(rf"(?<!_)\bvas_{role.name}_\w+", used))
    told = {name for task in tasks(role) for name in task.get("ansible.builtin.set_fact", {})}
    removed = _read(ROLES / "preflight/vars/main.yml")["__vas_preflight_removed"]
    mentioned = {name for name in found - told - set(removed) if not name.startswith(others)}
    assert mentioned - {f"vas_{role.name}_state"} == set(options_of(role)) - {
        f"vas_{role.name}_state"
    }


def test_what_is_the_role_s_own_is_called_so(role: Path) -> None:
    assert all(name.startswith(f"vas_{role.name}_") for name in options_of(role))
    own = role / "vars/main.yml"
    names = set(yaml.safe_load(own.read_text())) if own.exists() else set()
    names |= {task["register"] for task in tasks(role) if "register" in task}
    assert all(name.startswith(f"__vas_{role.name}_") for name in names), names


# A task's name is read alone, in a log: a verb, and the object by its name.
_VERBS = {
    *("Add", "Allow", "Ask", "Build", "Check", "Choose", "Configure", "Copy", "Create", "Cut"),
    *("Decommission", "Define", "Disable", "Drain", "Enable", "Ensure", "Fail", "Find", "Format"),
    *("Generate", "Give", "Grant", "Install", "Judge", "Link", "List", "Mark", "Measure", "Mount"),
    *("Move", "Obtain", "Place", "Plan", "Read", "Readmit", "Reboot", "Record", "Refresh"),
    *("Refuse", "Remove", "Report", "Restart", "Restore", "Restrict", "Return", "Roll", "Run"),
    *("Select", "Send", "Separate", "Set", "Shut", "Start", "Stop", "Sync", "Tell", "Undefine"),
    *("Undo", "Unload", "Unmark", "Unmount", "Unpack", "Upgrade", "Verify", "Wait", "Warn"),
    "Write",
}
_RIDDLE = re.compile(r"\bit\b|\bis (?:known|said)\b|\bwhat is\b|Ensure (?:that|what)\b")


def holds_no_riddle(name: str) -> bool:
    return name.split()[0] in _VERBS and not _RIDDLE.search(name)


def test_a_task_s_name_is_a_verb_and_its_object(role: Path) -> None:
    for task in tasks(role):
        assert holds_no_riddle(task["name"]), task["name"]


def test_a_playbook_s_task_is_called_so_too() -> None:
    for playbook in set(ROLES.parent.glob("*.yml")) - {ROLES.parent / "galaxy.yml"}:
        for play in _read(playbook):
            for task in tasks_in(play.get("tasks", [])):
                assert holds_no_riddle(task["name"]), task["name"]


def test_it_can_be_taken_away(role: Path) -> None:
    if role.name in CHECKS:
        pytest.skip("it changes nothing")
    assert options_of(role)[f"vas_{role.name}_state"]["choices"] == ["present", "absent"]
    assert (role / "tasks/present.yml").exists()
    assert (role / "tasks/absent.yml").exists()


def test_its_readme_has_the_options_of_today(role: Path) -> None:
    assert (role / "README.md").read_text() == readme(role), "run python -m vas_ansible.readme"


def test_no_secret_is_logged() -> None:
    for name in NAMES:
        for task in tasks(ROLES / name):
            copied = str(task.get("ansible.builtin.copy", ""))
            if "keytab" in copied or "route_switcher_key_file" in copied:
                assert task.get("no_log") is True, task["name"]
                assert task["ansible.builtin.copy"]["mode"] in ("0400", "0600"), task["name"]
                assert "owner" in task["ansible.builtin.copy"], task["name"]


def test_S2_nobody_prints_the_key_of_the_probes() -> None:
    """Neither who reads it nor who writes it, in a difference neither."""
    handled = [
        (task, task.get("ansible.builtin.slurp") or task["ansible.builtin.copy"])
        for task in tasks(ROLES / "route_switcher")
        if "route_switcher_key_file" in str(task.get("ansible.builtin.slurp", ""))
        or "route_switcher_key_file" in str(task.get("ansible.builtin.copy", ""))
    ]
    assert len(handled) == 3
    for task, words in handled:
        assert task["no_log"] is True, task["name"]
        assert "content" not in words or (task["diff"], words["mode"]) == (False, "0600")
    assert options_of(ROLES / "route_switcher")["vas_route_switcher_keys"]["no_log"] is True


def test_the_users_of_hadoop_have_one_number_in_every_place() -> None:
    numbers = defaults_of(ROLES / "hadoop")["vas_hadoop_ids"]
    checked = yaml.safe_load((ROLES / "hostcheck/vars/main.yml").read_text())
    assert checked["__vas_hostcheck_ids"] == numbers
    image = ROLES.parents[1] / "vm-images/guest/mkosi.extra/usr/lib/sysusers.d/vas.conf"
    lines = (line.split() for line in image.read_text().splitlines())
    assert {words[1]: int(words[2]) for words in lines if words[0] in "ug"} == numbers


def test_no_directory_of_prometheus_stays_where_there_is_none() -> None:
    """`present` makes the parent too; it stays where anything else is in it."""
    (emptied,) = (t for t in tasks(ROLES / "monitoring") if "vas.site.vas_empty_directories" in t)
    directories = emptied["vas.site.vas_empty_directories"]["paths"]
    assert "[__vas_monitoring_directory, __vas_monitoring_directory | dirname]" in directories


@pytest.mark.parametrize("system", ["debian-12", "debian-13", "rocky-9"])
def test_a_system_s_java_is_the_image_s(system: str) -> None:
    image = ROLES.parents[1] / f"vm-images/guest/mkosi.conf.d/20-{system}.conf"
    java = re.search(r"(?:openjdk-|java-)(\d+)", image.read_text())
    assert java
    family, release = system.replace("debian", "Debian").replace("rocky", "RedHat").split("-")
    javas = yaml.safe_load((ROLES / "hadoop/vars/main.yml").read_text())["__vas_hadoop_javas"]
    assert javas[family][release] == int(java[1])
