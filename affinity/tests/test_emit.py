"""A plan as libvirt XML, commands, scripts and profiles."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from guest_machines import GIB, host, hosts, machine, nic, nvme, thread
from hypothesis import given
from hypothesis import strategies as st

from vas_affinity.apply.thread import started
from vas_affinity.guest_plan import GuestRequest, plan_guests
from vas_affinity.machine.cpulist import format_cpulist, parse_cpulist
from vas_affinity.machine.snapshot import Snapshot, ThreadRole
from vas_affinity.placement import CpuRole, HostPlacement, Pin, PinTarget
from vas_affinity.plan.emit import domain_elements, virsh_commands
from vas_affinity.plan.emit.irqbalance import policy_script
from vas_affinity.plan.emit.libvirt import domain_xml
from vas_affinity.plan.emit.pages import pages_of
from vas_affinity.plan.emit.script import script
from vas_affinity.plan.emit.tuned import tuned_profile
from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_core.process import run
from vas_core.root import Root

SHELLCHECK = Path(sys.executable).with_name("shellcheck")


def planned(*vcpus: int, cores: int = 8, memory_gib: int = 20) -> HostPlacement:
    lines = [nic(50 + queue, 2, queue=queue) for queue in range(2)]
    snapshot = host(
        machine(cores=cores), nvme(40, 1), *lines, threads=(thread(7, ThreadRole.STORAGE),)
    )
    requests = [
        GuestRequest(name=f"vm{number}", vcpus=count, memory_bytes=memory_gib * GIB)
        for number, count in enumerate(vcpus, 1)
    ]
    return plan_guests(snapshot, requests)


def element(placement: HostPlacement, guest: str, path: str) -> Xml.Element:
    found = Xml.fromstring(domain_xml(placement, guest)).find(path)
    assert found is not None, path
    return found


@pytest.mark.unhurried
@given(hosts(), st.integers(1, 12), st.integers(0, 3))
def test_the_xml_says_what_the_plan_says(snapshot: Snapshot, vcpus: int, iothreads: int) -> None:
    request = GuestRequest(name="vm1", vcpus=vcpus, iothreads=iothreads)
    try:
        plan = plan_guests(snapshot, [request])
    except BadInput:
        return
    domain = Xml.fromstring(domain_xml(plan, "vm1"))
    pins = {pin.name: pin for pin in plan.pins if pin.target is PinTarget.VCPU}
    said = {pin.get("vcpu", ""): pin.get("cpuset", "") for pin in domain.iter("vcpupin")}
    assert {name: parse_cpulist(cpus) for name, cpus in said.items()} == {
        name: pin.cpus for name, pin in pins.items()
    }
    assert (
        len(list(domain.iter("iothreadpin"))) == iothreads == int(domain.findtext("iothreads") or 0)
    )
    topology, vcpu = domain.find("cpu/topology"), domain.find("vcpu")
    assert topology is not None and vcpu is not None
    sizes = {name: int(size) for name, size in topology.attrib.items()}
    seen = sizes["sockets"] * sizes["cores"] * sizes["threads"]
    assert int(vcpu.text or 0) == seen
    assert int(vcpu.get("current", seen)) == vcpus
    cells = [parse_cpulist(cell.get("cpus", "")) for cell in domain.iter("cell")]
    assert not cells or sorted(cpu for cell in cells for cpu in cell) == list(range(seen))


def test_a_guest_on_two_nodes_has_a_cell_of_each() -> None:
    plan = planned(20)
    tune = element(plan, "vm1", "numatune")
    assert [(node.tag, node.get("nodeset")) for node in tune] == [
        ("memory", "0-1"),
        ("memnode", "0"),
        ("memnode", "1"),
    ]
    cells = element(plan, "vm1", "cpu/numa")
    assert [cell.get("cpus") for cell in cells] == ["0-9", "10-19"]
    assert {cell.get("memory") for cell in cells} == {str(10 << 20)}
    assert element(plan, "vm1", "cpu/topology").get("sockets") == "2"
    assert element(plan, "vm1", "memoryBacking/hugepages/page").get("size") == "2048"


def test_elements_are_of_the_guest_asked_for() -> None:
    tags = [found.tag for found in domain_elements(planned(4, 2), "vm2")]
    assert tags == ["memory", "memoryBacking", "vcpu", "iothreads", "cputune", "numatune", "cpu"]
    with pytest.raises(BadInput, match="vm9: is not a guest of the plan; it has vm1, vm2"):
        domain_elements(planned(4, 2), "vm9")
    with pytest.raises(BadInput, match="the plan has no guests"):
        domain_elements(HostPlacement(host="oss1"), "vm1")


def test_commands_are_lists_of_arguments() -> None:
    plan = planned(2)
    commands = virsh_commands(plan, "vm1", live=True)
    cpus = {pin.name: format_cpulist(pin.cpus) for pin in plan.pins if pin.guest == "vm1"}
    assert commands[0] == ("virsh", "vcpupin", "vm1", "0", cpus["0"], "--live", "--config")
    assert ("virsh", "emulatorpin", "vm1", cpus["emulator"], "--live", "--config") in commands
    assert commands[-1][1:] == ("numatune", "vm1", "--mode", "strict", "--nodeset", "0", "--config")
    assert all("--live" not in command for command in virsh_commands(plan, "vm1", live=False))


def test_pages_are_counted_by_node() -> None:
    by_node = {pages.node: pages for pages in pages_of(planned(20), ["vm1"])}
    assert {node: pages.count for node, pages in by_node.items()} == {0: 5120, 1: 5120}
    one = pages_of(planned(4, 4, memory_gib=6), ["vm1", "vm2"])
    assert [(pages.node, pages.count, pages.guests) for pages in one] == [(0, 6144, ("vm1", "vm2"))]


def test_every_line_of_the_script_has_its_reason() -> None:
    plan = planned(4)
    body = script(plan, ["vm1"]).partition("only_on oss1\n")[2]
    lines = [line for line in body.splitlines() if line and line != 'exit "$failed"']
    done = [pin for pin in plan.pins if pin.target is not PinTarget.THREAD or pin.tid]
    assert len(lines) == len(done) + len(pages_of(plan, ["vm1"])) + len(plan.memory)
    for line in lines:
        words, _, reason = line.partition("  # ")
        assert shlex.split(words)[0] in ("pages", "guest", "defined", "interrupt", "thread")
        assert reason


def test_a_name_cannot_break_out_of_the_scripts() -> None:
    name, reason = "x'; touch /tmp/no; '", "why\ntouch /tmp/no"
    pin = Pin(target=PinTarget.INTERRUPT, name=name, cpus=(1,), reason=reason, device=name)
    plan = HostPlacement(host="oss1", pins=(pin,))
    for text in (script(plan, []), policy_script(plan), tuned_profile(plan, [])):
        assert not [line for line in text.splitlines() if line.startswith("touch")]
        assert "'; touch /tmp/no" not in text.replace(shlex.quote(name), "")


def test_irqbalance_keeps_off_the_guests() -> None:
    plan = planned(4)
    text = policy_script(plan)
    banned = text.partition("BANNED_CPULIST=")[2].splitlines()[0]
    left = {cpu for cpu in plan.roles if cpu not in parse_cpulist(banned)}
    assert {plan.roles[cpu] for cpu in left} == {CpuRole.HOST, CpuRole.OSS}
    assert "50)" in text and "51)" in text and "40)" not in text


def test_the_profile_has_only_what_the_plan_gives_reason_for() -> None:
    plan = planned(4)
    text = tuned_profile(plan, ["vm1"])
    vcpus = format_cpulist(cpu for cpu, role in plan.roles.items() if role is CpuRole.VCPU)
    assert f"isolcpus=domain,managed_irq,{vcpus}\n" in text
    assert "kernel.numa_balancing=0" in text
    assert "node0/hugepages/hugepages-2048kB/nr_hugepages=10240" in text
    assert "[sysctl]" not in tuned_profile(HostPlacement(host="oss1"), [])


def test_the_command_prints_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plan.json"
    file.write_text(planned(4, 2).model_dump_json())
    for form in ("libvirt", "virsh", "script", "irqbalance", "tuned"):
        assert run_command(["affinity", "emit", str(file), "--as", form]) == 0
        assert capsys.readouterr().out
    assert run_command(["affinity", "emit", str(file), "--as", "virsh", "--guest", "vm2"]) == 0
    assert "vm1" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such plan"),
        ("{}", "is not a plan: host: is missing"),
        (json.dumps({"host": "h", "moves": 1}), "is not a plan: moves: unknown key"),
        ("no json", "is not a plan: is not JSON"),
        (json.dumps({"host": "h"}), "the plan has no guests"),
    ],
)
def test_what_is_no_plan_is_refused_in_one_line(
    content: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "plan.json"
    if content is not None:
        file.write_text(content)
    assert run_command(["affinity", "emit", str(file), "--as", "libvirt"]) == 2
    error = capsys.readouterr().err
    assert message in error and len(error.splitlines()) == 1


def whole(placement: HostPlacement, guest: str) -> str:
    """The domain with what one cannot be without."""
    domain = Xml.fromstring(domain_xml(placement, guest))
    Xml.SubElement(Xml.SubElement(domain, "os"), "type", arch="x86_64").text = "hvm"
    return Xml.tostring(domain, encoding="unicode")


@pytest.mark.machine
@pytest.mark.skipif(
    not (shutil.which("virt-xml-validate") and shutil.which("xmllint")),
    reason="virt-xml-validate (libvirt-clients) or xmllint (libxml2-utils) is not installed",
)
@pytest.mark.parametrize("vcpus", [1, 5, 20])
def test_libvirts_schema_takes_it(vcpus: int, tmp_path: Path) -> None:
    file = tmp_path / "domain.xml"
    file.write_text(whole(planned(vcpus), "vm1"))
    done = subprocess.run(
        ["virt-xml-validate", str(file), "domain"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.machine
def test_shellcheck_finds_nothing(tmp_path: Path) -> None:
    files = [tmp_path / "script.bash", tmp_path / "policy.bash"]
    texts = (script(planned(4), ["vm1"]), policy_script(planned(4)))
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    done = subprocess.run([SHELLCHECK, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def run_script(plan: HostPlacement, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "place.bash"
    file.write_text(script(plan, []))
    return subprocess.run(["bash", str(file)], capture_output=True, text=True)


@pytest.mark.machine
def test_the_script_moves_a_thread_that_is_the_one(tmp_path: Path) -> None:
    last = max(os.sched_getaffinity(0))
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            start = started(Root(), child.pid)
            pin = Pin(
                target=PinTarget.THREAD, name="sleep", cpus=(last,), reason="test", tid=child.pid
            )
            here = HostPlacement(
                host=os.uname().nodename, pins=(pin.model_copy(update={"start": 1}),)
            )
            other = run_script(here, tmp_path)
            assert (other.returncode, "is another now" in other.stderr) == (1, True), other.stderr
            mine = here.model_copy(update={"pins": (pin.model_copy(update={"start": start}),)})
            done = run_script(mine, tmp_path)
            assert (done.returncode, done.stderr) == (0, "")
            assert os.sched_getaffinity(child.pid) == {last}
        finally:
            child.kill()
    gone = run_script(mine, tmp_path)
    assert (gone.returncode, "has ended" in gone.stderr) == (1, True)


@pytest.mark.machine
def test_the_script_does_nothing_on_another_host(tmp_path: Path) -> None:
    done = run_script(HostPlacement(host="no-such-host"), tmp_path)
    assert done.returncode == 2
    assert "is for no-such-host" in done.stderr


@pytest.mark.machine
def test_the_scripts_leave_an_interrupt_that_is_another_devices(tmp_path: Path) -> None:
    pin = Pin(target=PinTarget.INTERRUPT, name="1", cpus=(0,), reason="test", device="none0")
    plan = HostPlacement(host=os.uname().nodename, pins=(pin,))
    done = run_script(plan, tmp_path)
    assert (done.returncode, "interrupt 1 is not one of none0" in done.stderr) == (1, True)


@pytest.mark.machine
def test_the_script_moves_an_interrupt_of_its_device(tmp_path: Path) -> None:
    found = sorted(Path("/sys/class/net").glob("*/device/../msi_irqs/*"))
    if not found or (os.cpu_count() or 1) < 2:
        pytest.skip("no network device with interrupts of its own, or one CPU")
    number, device = found[-1].name, found[-1].parts[4]
    file = Path(f"/proc/irq/{number}/smp_affinity_list")
    before = file.read_text().strip()
    other = max(os.sched_getaffinity(0) - set(parse_cpulist(before)), default=0)
    pin = Pin(target=PinTarget.INTERRUPT, name=number, cpus=(other,), reason="test", device=device)
    try:
        done = run_script(HostPlacement(host=os.uname().nodename, pins=(pin,)), tmp_path)
        if "does not let" not in done.stderr:
            assert (done.returncode, done.stderr) == (0, "")
            assert file.read_text().strip() == str(other)
    finally:
        run(["tee", file], stdin=before, check=False)


@pytest.mark.machine
def test_the_policy_bans_the_plans_interrupts_of_their_devices(tmp_path: Path) -> None:
    file, device = tmp_path / "policy", tmp_path / "0000:01:00.0"
    (device / "net" / "ens1").mkdir(parents=True)
    file.write_text(policy_script(planned(4)))

    def asked(number: str, path: Path) -> str:
        argv = ["bash", str(file), str(path), number]
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout

    assert asked("50", device) == "ban=true\n"
    assert asked("40", device) == ""
    assert asked("50", tmp_path / "0000:02:00.0") == ""
