"""`vas doctor`: every room's checks, each with its fix, whatever the machine lacks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from vas_cluster.checks import check as cluster_check
from vas_core import packages
from vas_core.cli import run_command
from vas_core.doctor import DoctorFinding, checks, examine
from vas_core.doctor_lines import finding_lines
from vas_core.errors import VasError
from vas_core.root import Root
from vas_core.system import KnownSystem
from vas_lab.checks import check as lab_check
from vas_layout.checks import check as layout_check


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is all there is on PATH."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return directory


def _program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def _jdk(directory: Path, version: str) -> None:
    _program(directory / "java", f"echo 'openjdk version \"{version}\" 2025-04-15' >&2")
    _program(directory / "javac", "exit 0")


def _by_name(findings: Iterator[DoctorFinding]) -> dict[str, DoctorFinding]:
    return {finding.name: finding for finding in findings}


def _jdk_finding(tmp_path: Path) -> DoctorFinding:
    return _by_name(packages.check(Root(tmp_path)))["jdk 17"]


def test_each_room_declares_its_checks() -> None:
    rooms = checks()
    assert list(rooms) == ["core", "cluster", "lab", "lustre-layout", "yarn"]
    assert rooms["lab"] is lab_check


@pytest.mark.machine
def test_an_empty_machine_lacks_everything_and_each_has_a_fix(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("VAS_LABS", str(tmp_path / "file"))
    found = [f for check in checks().values() for f in check(Root(tmp_path / "none"))]
    lacking = {finding.name for finding in found if not finding.ok}
    assert {"git", "jdk 17", "mvn", "ip", "unshare", "cc", "c stdio.h"} <= lacking
    assert {"namespaces", "lab files", "memory", "Lustre client", "KVM"} <= lacking
    assert all(finding.fix for finding in found if not finding.ok)
    of_guests = {"virsh", "libvirtd", "virt-qemu-run", "qemu-system-x86_64", "xmllint"}
    firmware = "file /usr/share/OVMF/OVMF_CODE_4M.fd"
    of_images = {"mmdebstrap", "qemu-img", "debugfs", "mkosi", firmware}
    of_networks = {"nft", "krb5kdc", "kadmin.local", "kinit", "promtool"}
    of_networks |= {"vagrant", "cpio", "cmake", "file /usr/share/doc/vagrant-libvirt/copyright"}
    of_networks |= {"dpkg-deb", "rpmbuild"}
    of_tests = {"iperf3", "fio", "chromium"} | of_guests | of_images | of_networks
    of_mpi = {"gcc", "make", "c math.h", "mpiexec.openmpi", "mpiexec.mpich", "smpirun"}
    of_mpi |= {"file /usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h"}
    of_mpi |= {"file /usr/include/x86_64-linux-gnu/mpich/mpi.h"}
    optional = {f.name for f in found if f.optional}
    of_daemon = {"runs cargo", "runs rustc"}
    here = {"system", "Lustre client", "KVM", "Hadoop configuration", "git", "module ensurepip"}
    assert optional == here | of_daemon | of_tests | of_mpi


@pytest.mark.machine
@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22", "16-ea"])
def test_a_jdk_older_than_17_is_too_old(version: str, programs: Path, tmp_path: Path) -> None:
    _jdk(programs, version)
    finding = _jdk_finding(tmp_path)
    assert not finding.ok
    assert "older than 17" in finding.found
    assert "openjdk-17-jdk-headless" in finding.fix


@pytest.mark.machine
@pytest.mark.parametrize("version", ["17", "17.0.15", "25.0.1"])
def test_a_jdk_of_17_or_newer_will_do(version: str, programs: Path, tmp_path: Path) -> None:
    _jdk(programs, version)
    assert _jdk_finding(tmp_path).ok


@pytest.mark.machine
def test_a_runtime_without_its_compiler_is_no_jdk(programs: Path, tmp_path: Path) -> None:
    _jdk(programs, "17.0.15")
    (programs / "javac").unlink()
    assert "without javac" in _jdk_finding(tmp_path).found


@pytest.mark.machine
def test_java_home_goes_before_path(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _jdk(programs, "17.0.15")
    _jdk(tmp_path / "old" / "bin", "11.0.22")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    finding = _jdk_finding(tmp_path)
    assert not finding.ok
    assert "JAVA_HOME" in finding.fix


@pytest.mark.machine
def test_of_alternative_programs_one_is_enough(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = packages.Package(
        "qemu|qemu-kvm", "guests", dict.fromkeys(KnownSystem, "x"), "runs guests"
    )
    monkeypatch.setattr(packages, "packages", lambda: [row])
    _, finding = packages.check(Root(tmp_path))
    assert (finding.name, finding.ok, finding.optional) == ("qemu", False, True)
    _program(programs / "qemu-kvm", "exit 0")
    _, finding = packages.check(Root(tmp_path))
    assert (finding.ok, finding.found) == (True, str(programs / "qemu-kvm"))


@pytest.mark.machine
def test_the_lab_wants_its_directory_and_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAS_LABS", str(tmp_path / "not" / "yet"))
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   1048576 kB\n")
    found = _by_name(lab_check(Root(tmp_path)))
    assert found["memory"].found == "1 GiB available"
    assert not found["memory"].ok
    assert str(tmp_path) in found["lab files"].found


@pytest.mark.machine
def test_a_directory_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("VAS_LABS", str(tmp_path / "file"))
    found = _by_name(lab_check(Root(tmp_path)))
    assert "not writable" in found["lab files"].found


def test_what_is_mounted_and_present_is_found(tmp_path: Path) -> None:
    (tmp_path / "sys/fs/lustre").mkdir(parents=True)
    (tmp_path / "sys/fs/lustre/version").write_text("2.15.6\n")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/kvm").touch()
    found = [*layout_check(Root(tmp_path)), *cluster_check(Root(tmp_path))]
    assert [finding.ok for finding in found] == [True, True]
    assert found[0].found == "2.15.6"


def test_a_check_that_breaks_is_a_finding_and_the_others_go_on(tmp_path: Path) -> None:
    def broken(_root: Root) -> Iterator[DoctorFinding]:
        raise VasError("no such luck", where="/proc/x")
        yield

    findings = list(examine(Root(tmp_path), {"odd": broken, "cluster": cluster_check}))
    assert [finding.name for finding in findings] == ["odd", "KVM"]
    assert "/proc/x: no such luck" in findings[0].found


def test_a_fault_in_a_check_keeps_no_other_back(tmp_path: Path) -> None:
    def faulty(_root: Root) -> Iterator[DoctorFinding]:
        yield from cluster_check(_root)
        raise KeyError("MemTotal")

    findings = list(examine(Root(tmp_path), {"odd": faulty, "cluster": cluster_check}))
    assert [finding.name for finding in findings] == ["KVM", "odd", "KVM"]
    assert findings[1].found == "not checked: KeyError: 'MemTotal'"
    assert not findings[1].ok


def test_checks_that_cannot_be_loaded_are_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = EntryPoint("cluster", "vas_cluster.checks:check", "vas.checks")
    gone = EntryPoint("a", "vas_core.no_such_module:check", "vas.checks")
    monkeypatch.setattr("vas_core.doctor.entry_points", lambda **_: [real, gone])
    findings = list(examine(Root(tmp_path), checks()))
    assert [finding.name for finding in findings] == ["a", "KVM"]
    assert "ModuleNotFoundError: No module named 'vas_core.no_such_module'" in findings[0].found


def test_what_a_site_needs_does_not_fail_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacking(*, optional: bool) -> dict[str, object]:
        finding = DoctorFinding(
            name="x", ok=False, found="no", needed_for="y", fix="z", optional=optional
        )
        return {"room": lambda _root: [finding]}

    monkeypatch.setattr("vas_core.commands.checks", lambda: lacking(optional=True))
    assert run_command(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"name": "x", "ok": False, "found": "no", "needed_for": "y", "fix": "z", "optional": True}
    ]
    monkeypatch.setattr("vas_core.commands.checks", lambda: lacking(optional=False))
    assert run_command(["doctor"]) == 1
    assert "1 thing (marked --) is missing that every command" in capsys.readouterr().out


def test_a_pipe_gets_lines_of_100_columns_or_as_many_as_COLUMNS_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = DoctorFinding(
        name="x", ok=False, found="w " * 90, needed_for="y", fix="z", optional=True
    )
    monkeypatch.setattr("vas_core.commands.checks", lambda: {"room": lambda _root: [found]})
    for columns, width in (("", 100), ("60", 60)):
        monkeypatch.setenv("COLUMNS", columns)
        assert run_command(["doctor"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert width - 4 < max(map(len, lines)) <= width
        closing = " ".join(lines[lines.index("      fix: z") + 1 :])
        assert closing == (
            "nothing is missing that every command, demo, lab or bench needs; 1 thing (marked no)"
            " is missing that only other commands or a site need"
        )


@pytest.mark.machine
def test_a_missing_mkosi_has_a_fix_where_no_package_is_new_enough(
    programs: Path, tmp_path: Path
) -> None:
    fix = _by_name(packages.check(Root(tmp_path)))["mkosi"].fix
    assert "`vas image build --builder quick`" in fix and "--tools-tree" in fix


def test_the_table_of_packages_is_packages_tsv() -> None:
    page = (Path(__file__).parents[2] / "docs/packages.md").read_text()
    for package in packages.packages():
        names = [package.on(system) for system in KnownSystem]
        same = [names[0], *("=" if name == names[0] else name for name in names[1:3]), names[3]]
        assert f"| {package.why} | {' | '.join(f'`{name}`' for name in same)} |" in page


@pytest.mark.machine
@pytest.mark.parametrize(
    ("release", "fixes"),
    [
        ('ID=debian\nVERSION_ID="12"', ["apt-get install openjdk-17-jdk-headless"]),
        ('ID=debian\nVERSION_ID="13"', ["apt-get install openjdk-21-jdk-headless"]),
        (
            'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"',
            ["apt-get install openjdk-17-jdk-headless", "no package of Ubuntu 24.04 has it"],
        ),
        (
            'ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.4"',
            ["dnf install java-17-openjdk-devel", "dnf install chromium"],
        ),
        ("ID=rhel\nVERSION_ID=9.6", ["dnf install java-17-openjdk-devel"]),
    ],
)
def test_a_fix_is_the_one_of_this_system(
    programs: Path, tmp_path: Path, release: str, fixes: list[str]
) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text(f'PRETTY_NAME="This one"\n{release}\n')
    found = _by_name(packages.check(Root(tmp_path)))
    assert (found["system"].ok, found["system"].found) == (True, "This one")
    assert [found[name].fix for name in ("jdk 17", "chromium")[: len(fixes)]] == fixes


@pytest.mark.machine
@pytest.mark.parametrize("release", ["ID=fedora\nVERSION_ID=41", "ID=rhel\nVERSION_ID=8.10", ""])
def test_another_system_is_told_the_names_of_both_families(
    programs: Path, tmp_path: Path, release: str
) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text(release)
    found = _by_name(packages.check(Root(tmp_path)))
    assert (found["system"].ok, found["system"].optional) == (False, True)
    assert found["promtool"].fix == "apt-get install prometheus (Rocky 9: no package)"
    assert "(Rocky 9: dnf install java-17-openjdk-devel)" in found["jdk 17"].fix


@pytest.mark.machine
def test_where_apparmor_keeps_user_namespaces_the_fix_is_its_own(
    programs: Path, tmp_path: Path
) -> None:
    _program(programs / "unshare", "echo 'write failed: Operation not permitted' >&2; exit 1")
    setting = tmp_path / "proc/sys/kernel/apparmor_restrict_unprivileged_userns"
    setting.parent.mkdir(parents=True)
    setting.write_text("1\n")
    (tmp_path / "proc/meminfo").write_text("MemAvailable: 1024 kB\n")
    found = _by_name(lab_check(Root(tmp_path)))["namespaces"]
    assert "Operation not permitted: AppArmor keeps user namespaces" in found.found
    assert "sysctl kernel.apparmor_restrict_unprivileged_userns=0" in found.fix
    _program(programs / "unshare", "echo 'unshare failed: No space left on device' >&2; exit 1")
    assert "max_user_namespaces" in _by_name(lab_check(Root(tmp_path)))["namespaces"].fix
    _program(programs / "unshare", "echo 'write failed: Operation not permitted' >&2; exit 1")
    setting.write_text("0\n")
    assert "AppArmor" not in str(_by_name(lab_check(Root(tmp_path)))["namespaces"])


def test_a_narrow_terminal_shows_the_fix_below_and_cuts_no_word() -> None:
    long = "file /usr/share/OVMF/OVMF_CODE_4M.fd"
    missing = {"ok": False, "needed_for": "image check", "fix": "apt-get install ovmf (or edk2)"}
    findings = [
        DoctorFinding(name="git", ok=True, found="/usr/bin/git", needed_for="x" * 50, fix="-"),
        DoctorFinding(name="uv", ok=True, found="", needed_for="locks", fix="-"),
        DoctorFinding(name=long, found="no: the firmware of images", optional=True, **missing),
    ]
    assert [text for text, _ in finding_lines(findings, 36)] == [
        "    CHECK  FOUND",
        "ok  git    /usr/bin/git",
        "ok  uv",
        f"no  {long}",
        "           no: the firmware of",
        "           images",
        "      needed for: image check",
        "      fix: apt-get install ovmf (or",
        "        edk2)",
    ]
    assert len(list(finding_lines(findings, 200))) == 1 + len(findings)
