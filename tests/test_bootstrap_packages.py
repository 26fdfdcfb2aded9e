"""The script `./vas` installs the packages that a command needs, with both package managers."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from vas_core.packages import OLDEST_RUST
from vas_core.repository import REPOSITORY
from vas_tests.bootstrap import MAVEN, ScriptClone

pytestmark = pytest.mark.machine


def test_a_machine_with_everything_installs_nothing(machine: ScriptClone) -> None:
    done = machine.vas("cluster", "check", "a b")
    assert (done.returncode, done.stdout) == (0, "ran: cluster check a b, as ./vas\n")
    assert "once; about a minute" in done.stderr
    assert machine.vas("--version").stderr == ""
    assert machine.installed() == []


def test_a_python_too_old_is_installed_and_the_command_goes_on(machine: ScriptClone) -> None:
    machine.lacks("python3.11")
    machine.python("python3", 9)
    newer = {"apt-get": "python3", "dnf": "python3.11"}[machine.manager]
    machine.python(newer, 11, package=newer)
    done = machine.vas("--yes", "--version")
    assert done.stdout == "ran: --yes --version, as ./vas\n"
    assert machine.installed()[0] == newer
    assert "missing: python:3.11 (runs VAS)" in done.stderr


@pytest.mark.parametrize("old", [None, 11])
def test_a_jdk_and_maven_are_installed_for_what_needs_them(
    old: int | None, machine: ScriptClone
) -> None:
    names = {
        "apt-get": ("openjdk-17-jdk-headless", "maven"),
        "dnf": ("java-17-openjdk-devel", "maven-openjdk17"),
    }[machine.manager]
    machine.lacks("mvn", "java", "javac")
    if old:
        machine.java(old)
    machine.java(17, package=names[0])
    machine.program("mvn", MAVEN, package=names[1])
    assert machine.vas("cluster").returncode == 0
    assert machine.installed() == []
    assert machine.vas("demo", "--yes").stdout == "ran: demo --yes, as ./vas\n"
    assert machine.installed() == list(names)
    assert machine.builds() == 1


def test_only_what_measures_paths_needs_iperf3(debian: ScriptClone) -> None:
    debian.lacks("iperf3")
    debian.program("iperf3", "#!/bin/sh\n", package="iperf3")
    for words in (("demo",), ("lab", "status"), ("route", "plan")):
        assert debian.vas(*words).returncode == 0
    assert debian.vas("route", "calibrate").returncode == 77
    debian.lacks("mvn", "java", "javac")
    assert debian.vas("--yes", "route", "calibrate", "--lab").returncode == 0
    assert debian.installed() == ["iperf3"]


@pytest.mark.unhurried
def test_only_what_measures_interference_needs_fio(debian: ScriptClone) -> None:
    debian.lacks("fio")
    debian.program("fio", "#!/bin/sh\n", package="fio")
    for words in (("demo",), ("bench", "arms"), ("bench", "stats"), ("route", "calibrate")):
        assert debian.vas(*words).returncode == 0
    assert debian.vas("bench", "interference").returncode == 77
    assert debian.vas("--yes", "bench", "interference").returncode == 0
    assert debian.installed() == ["fio"]
    assert debian.builds() == 1


def test_only_what_simulates_an_mpi_needs_simgrid_and_only_what_runs_one_an_mpi(
    debian: ScriptClone,
) -> None:
    debian.lacks("smpirun", "mpiexec.openmpi", "mpiexec.mpich")
    debian.program("smpirun", "#!/bin/sh\n", package="libsimgrid-dev")
    for words in (("demo",), ("a2av", "explain")):
        assert debian.vas(*words).returncode == 0
    for name in ("build", "verify", "tune", "demo"):
        done = debian.vas("a2av", name)
        assert (done.returncode, "mpich" in done.stderr) == (77, True), name
    done = debian.vas("a2av", "bench", "--mpi", "mpich")
    assert (done.returncode, "mpich" in done.stderr) == (77, True)
    for words in (("bench", "--mpi", "/opt/mpi"), ("tune", "--mpi=/opt/mpi")):
        assert debian.vas("a2av", *words).returncode == 0, words
    for name in ("bench", "grid", "sort"):
        assert debian.vas("a2av", name).returncode == 77, name
    assert debian.vas("--yes", "a2av", "sort").returncode == 0
    assert debian.installed() == ["libsimgrid-dev"]


@pytest.mark.unhurried
@pytest.mark.parametrize(
    ("programs", "packages", "words"),
    [
        (
            ("krb5kdc", "kadmin.local", "kinit"),
            {
                "apt-get": ["krb5-kdc", "krb5-admin-server", "krb5-user"],
                "dnf": ["krb5-server", "krb5-workstation"],
            },
            ("test", "--ci"),
        ),
        (("krb5kdc",), {"apt-get": ["krb5-kdc"], "dnf": ["krb5-server"]}, ("test", "--slice=1")),
        (("cpio",), {"apt-get": ["cpio"], "dnf": ["cpio"]}, ("test", "--slice", "1")),
        (("vagrant",), {"apt-get": ["vagrant"], "dnf": []}, ("test", "--all")),
        (("smpirun",), {"apt-get": ["libsimgrid-dev"], "dnf": []}, ("test", "--ci")),
        (("nft",), {"apt-get": ["nftables"], "dnf": ["nftables"]}, ("test",)),
        (("promtool",), {"apt-get": ["prometheus"], "dnf": []}, ("test", "--ci")),
        (("promtool",), {"apt-get": ["prometheus"], "dnf": []}, ("test", "--all")),
    ],
)
def test_only_the_tests_that_run_it_need_a_program_of_tests(
    programs: tuple[str, ...],
    packages: dict[str, list[str]],
    words: tuple[str, ...],
    machine: ScriptClone,
) -> None:
    machine.lacks(*programs)
    names = packages[machine.manager]
    for name, program in product(names, programs):
        machine.program(program, "#!/bin/sh\n", package=name)
    others = [("demo",), ("lab", "status"), ("bench", "arms"), ("route", "plan")]
    others += [("test", "--fast"), *([("test",)] if len(words) > 1 else [])]
    for other in others:
        assert machine.vas(*other).returncode == 0, other
    assert machine.installed() == []
    assert machine.vas("--yes", *words).returncode == 0
    assert machine.installed() == names


@pytest.mark.unhurried
@pytest.mark.parametrize("listing", ["--slices", "--list"])
def test_a_list_of_the_tests_needs_no_program_of_tests(debian: ScriptClone, listing: str) -> None:
    debian.lacks("mvn", "java", "virsh", "chromium", "fio")
    assert debian.vas("test", listing).returncode == 0
    assert debian.installed() == []
    assert debian.vas("test", "--fast").returncode == 77


@pytest.mark.unhurried
@pytest.mark.parametrize("word", ["--ci", "--all"])
def test_a_program_that_no_package_of_the_system_has_is_named_and_left_out(
    tmp_path: Path, word: str
) -> None:
    rocky = ScriptClone(tmp_path, "dnf")
    rocky.lacks("promtool")
    done = rocky.vas("test", word)
    assert (done.returncode, rocky.installed()) == (0, [])
    (line,) = (line for line in done.stderr.splitlines() if "promtool" in line)
    assert line.startswith("vas: no package of this system has promtool")
    assert "skipped" in line
    assert "promtool" not in rocky.vas("test").stderr


@pytest.mark.parametrize(
    ("release", "jdk"),
    [
        ('ID=debian\nVERSION_ID="13"', "openjdk-21-jdk-headless"),
        ("ID=debian\n", "openjdk-21-jdk-headless"),
        ('VERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n', "openjdk-17-jdk-headless"),
        ("ID=kali\nID_LIKE=debian\n", "openjdk-17-jdk-headless"),
        ("", "openjdk-17-jdk-headless"),
    ],
)
def test_a_package_has_the_name_of_this_system(debian: ScriptClone, release: str, jdk: str) -> None:
    debian.release.write_text(release)
    debian.lacks("java", "javac")
    debian.java(21, package=jdk)
    assert debian.vas("--yes", "demo").returncode == 0
    assert debian.installed() == [jdk]


@pytest.mark.parametrize(
    "release", ['ID=ubuntu\nVERSION_ID="24.04"\n', 'ID=linuxmint\nID_LIKE="ubuntu debian"\n']
)
def test_ubuntu_has_no_package_of_vagrant_and_rust_by_its_version(
    debian: ScriptClone, release: str
) -> None:
    debian.release.write_text(release)
    debian.lacks("vagrant")
    for name in ("cargo", "rustc"):
        debian.program(name, f"#!/bin/sh\necho {name} 1.75.0\n")
        newer = f"{name}-1.85"
        debian.program(newer, f"#!/bin/sh\necho {name} 1.85.1\n", package=newer)
    done = debian.vas("--yes", "test", "--ci")
    assert "no package of this system has vagrant" in done.stderr
    done = debian.vas("--yes", "build", "--native")
    assert (done.returncode, debian.installed()) == (0, ["cargo-1.85", "rustc-1.85"])


def test_the_oldest_rust_is_the_one_that_cargo_toml_asks_for(debian: ScriptClone) -> None:
    manifest = (REPOSITORY / "shuffled/Cargo.toml").read_text()
    assert 'rust-version = "1.85"' in manifest
    native = (debian.clone / "core/bootstrap/native.bash").read_text()
    assert "BASH_REMATCH[2] >= 85" in native and '"$1-1.85"' in native
    assert OLDEST_RUST == (1, 85)


def test_of_alternative_programs_one_is_enough(debian: ScriptClone) -> None:
    debian.lacks("qemu-system-x86_64")
    elsewhere = debian.clone / "qemu-kvm"
    file = debian.clone / "core/vas_core/packages.tsv"
    file.write_text(file.read_text().replace("/usr/libexec/qemu-kvm", str(elsewhere)))
    assert debian.vas("cluster").returncode == 0
    assert "missing: qemu-system-x86_64|" in debian.vas("test").stderr
    debian.program("qemu-kvm", "#!/bin/sh\n")
    (debian.bin / "qemu-kvm").rename(elsewhere)
    assert debian.vas("test").returncode == 0
    assert debian.installed() == []


def test_without_yes_and_a_terminal_nothing_is_installed(machine: ScriptClone) -> None:
    machine.lacks("ip")
    done = machine.vas("lab", "shell", "--", "apt", "--yes")
    assert done.returncode == 77
    assert "missing: ip (joins the lab hosts by virtual networks)" in done.stderr
    assert "nothing was installed" in done.stderr
    assert machine.installed() == []


def test_what_is_installed_and_still_not_found_is_said(debian: ScriptClone) -> None:
    debian.java(11)
    done = debian.vas("--yes", "demo")
    assert done.returncode == 77
    assert "installed, but not found: jdk:17" in done.stderr
    assert "set JAVA_HOME" in done.stderr


def test_R7_what_needs_no_git_runs_without(machine: ScriptClone) -> None:
    machine.lacks("git")
    assert machine.vas("cluster", "check").returncode == 0
    assert machine.vas("demo").returncode == 0
    assert machine.installed() == []


def test_neither_manager(debian: ScriptClone) -> None:
    debian.lacks("apt-get", "ip")
    done = debian.vas("--yes", "demo")
    assert done.returncode == 77
    assert "neither apt-get nor dnf is here" in done.stderr
