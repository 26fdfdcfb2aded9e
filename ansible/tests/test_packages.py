"""Which packages go when a role does: those that came with VAS, if nothing needs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from modules import load

packages = load("modules/vas_packages.py")


class Failed(Exception):
    pass


class Machine:
    """A package manager: what is installed, what needs what; and Ansible's module before it."""

    def __init__(self, record: Path) -> None:
        self.params = {"record": str(record)}
        self.check_mode = False
        self.installed = {"bash"}
        self.needs = {"jdk": {"fonts"}, "python": set(), "editor": {"fonts"}}
        self.dies = False

    def run_command(self, argv: list[str], **_: Any) -> tuple[int, str, str]:
        names = [word for word in argv[1:] if word in self.needs or word in ("fonts", "bash")]
        if "-W" in argv or "-qa" in argv:
            return 0, "".join(f"installed {name}\n" for name in sorted(self.installed)), ""
        if "install" in argv:
            return self._install(names)
        if "--dry-run" in argv or "--test" in argv:
            left = self.installed - set(names)
            broken = [n for n in left if self.needs.get(n, set()) & set(names)]
            return (1, "", f"{broken[0]} needs it") if broken else (0, "", "")
        if "--purge" in argv or "--erase" in argv:
            self.installed -= set(names)
        return 0, "", ""

    def _install(self, names: list[str]) -> tuple[int, str, str]:
        for name in names:
            self.installed |= {name, *self.needs[name]}
        if self.dies:
            raise Failed
        return 0, "", ""

    def fail_json(self, **said: Any) -> None:
        raise AssertionError(said)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "vas" / "packages.json")


def test_what_came_goes_dependencies_too(machine: Machine) -> None:
    came = packages.Packages(machine).present("hadoop", ["jdk"])
    assert (came["changed"], came["installed"]) == (True, ["fonts", "jdk"])
    assert not packages.Packages(machine).present("hadoop", ["jdk"])["changed"]
    went = packages.Packages(machine).absent("hadoop")
    assert (went["changed"], went["removed"]) == (True, ["fonts", "jdk"])
    assert machine.installed == {"bash"}
    assert not Path(machine.params["record"]).exists()
    assert not packages.Packages(machine).absent("hadoop")["changed"]


def test_what_was_there_before_stays(machine: Machine) -> None:
    machine.installed |= {"jdk", "fonts"}
    packages.Packages(machine).present("hadoop", ["jdk"])
    assert packages.Packages(machine).absent("hadoop")["removed"] == []
    assert machine.installed == {"bash", "jdk", "fonts"}


def test_what_another_role_or_package_needs_stays(machine: Machine) -> None:
    both = packages.Packages(machine)
    both.present("hadoop", ["jdk"])
    both.present("program", ["python"])
    assert both.absent("hadoop")["removed"] == []
    machine.installed.add("editor")  # by an administrator, afterwards
    went = both.absent("program")
    assert (went["removed"], went["kept"]) == ([], "editor needs it")
    assert {"jdk", "fonts", "python"} <= machine.installed
    assert not both.absent("program")["changed"]


def test_a_run_that_dies_while_it_installs_is_known_to_the_next(machine: Machine) -> None:
    machine.dies = True
    with pytest.raises(Failed):
        packages.Packages(machine).present("hadoop", ["jdk"])
    machine.dies = False
    packages.Packages(machine).present("hadoop", ["jdk"])
    assert packages.Packages(machine).absent("hadoop")["removed"] == ["fonts", "jdk"]


def test_check_mode_changes_nothing(machine: Machine) -> None:
    machine.check_mode = True
    would = packages.Packages(machine).present("hadoop", ["jdk"])
    assert (would["changed"], would["installed"]) == (True, ["jdk"])
    assert machine.installed == {"bash"}
    assert not Path(machine.params["record"]).exists()
