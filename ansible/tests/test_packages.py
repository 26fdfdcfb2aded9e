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
        self.needs = {"jdk": {"fonts"}, "python": set(), "editor": {"fonts"}, "chrony": set()}
        self.needs |= {"fonts": set(), "bash": set(), "timesyncd": set()}
        self.dies = False

    def run_command(self, argv: list[str], **_: Any) -> tuple[int, str, str]:
        names = [word for word in argv[1:] if word in self.needs]
        if "-W" in argv or "-qa" in argv:
            return 0, "".join(f"installed {name}\n" for name in sorted(self.installed)), ""
        if "install" in argv:
            return self._install(names, "--no-remove" in argv)
        if "--simulate" in argv:
            going = {n for n in self.installed if {n, *self.needs[n]} & set(names)}
            return 0, "".join(f"Purg {name} [1.0]\n" for name in sorted(going)), ""
        if "--purge" in argv or "--erase" in argv:
            self.installed -= set(names)
        return 0, "", ""

    def _install(self, names: list[str], no_remove: bool) -> tuple[int, str, str]:
        if "chrony" in names and "timesyncd" in self.installed:
            if no_remove:
                said = "The following packages will be REMOVED:\n  timesyncd\n"
                return 100, said, "E: Packages need to be removed but remove is disabled."
            self.installed.remove("timesyncd")
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
    assert not Path(machine.params["record"]).parent.exists()
    assert not packages.Packages(machine).absent("hadoop")["changed"]


def test_what_was_there_before_stays(machine: Machine) -> None:
    machine.installed |= {"jdk", "fonts"}
    packages.Packages(machine).present("hadoop", ["jdk"])
    assert packages.Packages(machine).absent("hadoop")["removed"] == []
    assert machine.installed == {"bash", "jdk", "fonts"}


def test_a_role_s_packages_go_while_another_keeps_its_own(machine: Machine) -> None:
    both = packages.Packages(machine)
    both.present("hadoop", ["jdk"])
    both.present("program", ["python"])
    assert both.absent("hadoop")["removed"] == ["fonts", "jdk"]
    assert machine.installed == {"bash", "python"}
    assert both.absent("program")["removed"] == ["python"]


def test_what_a_later_package_needs_stays(machine: Machine) -> None:
    both = packages.Packages(machine)
    both.present("hadoop", ["jdk"])
    machine.installed.add("editor")  # by an administrator, afterwards
    went = both.absent("hadoop")
    assert (went["removed"], went["kept"]) == ([], "fonts, jdk: editor would go or come too")
    assert {"jdk", "fonts"} <= machine.installed
    assert not both.absent("hadoop")["changed"]
    machine.installed.remove("editor")
    assert both.absent("hadoop")["removed"] == ["fonts", "jdk"]


def test_what_another_role_wants_goes_with_that_one(machine: Machine) -> None:
    both = packages.Packages(machine)
    both.present("hadoop", ["jdk"])
    both.present("monitoring", ["jdk"])
    assert both.absent("hadoop")["removed"] == []
    assert {"jdk", "fonts"} <= machine.installed
    assert both.absent("monitoring")["removed"] == ["fonts", "jdk"]
    assert not Path(machine.params["record"]).exists()


def test_an_installation_removes_nobody_s_package(machine: Machine) -> None:
    machine.installed.add("timesyncd")
    with pytest.raises(AssertionError, match="chrony would remove timesyncd"):
        packages.Packages(machine).present("guest_base", ["chrony"])
    assert machine.installed == {"bash", "timesyncd"}


def test_rpm_says_who_needs_what_is_to_go() -> None:
    said = "error: Failed dependencies:\n\tfonts is needed by (installed) editor-1.0-1.el9.x86_64\n"
    assert packages.Dnf.others(["fonts"], 1, "", said) == ["editor-1.0-1.el9.x86_64"]
    assert packages.Dnf.others(["fonts"], 0, "", "") == []


def test_a_run_that_dies_while_it_installs_is_known_to_the_next(machine: Machine) -> None:
    machine.dies = True
    with pytest.raises(Failed):
        packages.Packages(machine).present("hadoop", ["jdk"])
    machine.dies = False
    packages.Packages(machine).present("hadoop", ["jdk"])
    assert packages.Packages(machine).absent("hadoop")["removed"] == ["fonts", "jdk"]


class Rpms(Machine):
    """Rocky's, where a repository's key is imported with the first package that comes from it."""

    def run_command(self, argv: list[str], **_: Any) -> tuple[int, str, str]:
        if "-qa" in argv:
            names = ((name.partition("-")[0], name) for name in sorted(self.installed))
            names = (("gpg-pubkey" if "gpg" in first else first, name) for first, name in names)
            return 0, "".join(f"installed {name} {whole}\n" for name, whole in names), ""
        return super().run_command(argv)


def test_a_key_that_dnf_imports_goes_with_its_packages_and_no_other_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(packages, "Apt", packages.Dnf)
    theirs, ours = "gpg-pubkey-11aa-22bb", "gpg-pubkey-33cc-44dd"
    machine = Rpms(tmp_path / "vas" / "packages.json")
    machine.installed.add(theirs)
    machine.needs |= {"jdk": {ours}, theirs: set(), ours: set()}
    came = packages.Packages(machine).present("hadoop", ["jdk"])
    assert came["installed"] == [ours, "jdk"]
    assert packages.Packages(machine).absent("hadoop")["removed"] == [ours, "jdk"]
    assert machine.installed == {"bash", theirs}


def test_check_mode_changes_nothing(machine: Machine) -> None:
    machine.check_mode = True
    would = packages.Packages(machine).present("hadoop", ["jdk"])
    assert (would["changed"], would["installed"]) == (True, ["jdk"])
    assert machine.installed == {"bash"}
    assert not Path(machine.params["record"]).exists()
