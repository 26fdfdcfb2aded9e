"""Figures: that they say what was recorded, and are legible."""

from __future__ import annotations

import itertools
from pathlib import Path
from xml.etree import ElementTree

import pytest

from vas_affinity.guest_plan import GuestRequest
from vas_affinity.joint import plan_host
from vas_affinity.machine.reading import read_source
from vas_affinity.machine.snapshot import DeviceKind, Interrupt, Snapshot, Thread, ThreadRole
from vas_affinity.machine.topology import Cpu, MachineTopology
from vas_affinity.pictures.boxes import Box, boxes_of
from vas_affinity.pictures.cells import HostMap, host_map
from vas_affinity.pictures.links_svg import draw_links
from vas_affinity.pictures.map_svg import draw_map
from vas_affinity.pictures.map_text import print_map
from vas_affinity.pictures.strings import PanelScale, busy_line, draw_strings, step_line
from vas_affinity.placement import CpuRole, HostPlacement, Pin, PinTarget
from vas_affinity.plan.explain.picture import linked_maps
from vas_affinity.search.score import terms
from vas_affinity.watch.record.recording import Header, Recorded, Recording, String
from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_core.svg import Svg, html, text_width, write_picture

MACHINES = sorted(Path(__file__).parent.glob("machines/*.tar.bz2")) + sorted(
    Path(__file__).parent.glob("machines/*.xml")
)
SMALL = next(path for path in MACHINES if path.name.startswith("8em64t"))
TOPOLOGY = MachineTopology(
    name="host",
    cpus=tuple(Cpu(number=n, package=0, die=0, node=0, l3=0, l2=n, core=n) for n in range(4)),
)


def thread(number: int, key: str) -> Recorded:
    return Recorded(thread=number, tid=number + 100, pid=100, key=key, name="x", start=1)


def recording(*keys: str, moves: int = 4) -> Recording:
    header = Header(
        started=0, interval_seconds=0.5, ticks_per_second=100, what=(), topology=TOPOLOGY
    )
    times = [0.5 * n for n in range(moves)]
    strings = [
        String(
            thread(n, key),
            times,
            [(n + i) % 4 for i in range(moves)],
            [10 * (n + 1) * i for i in range(moves)],
        )
        for n, key in enumerate(keys)
    ]
    return Recording(header, strings, seconds=times[-1])


def texts(svg: Svg) -> list[tuple[float, float, float, float, str]]:
    """Left, top, right and bottom of each text."""
    root = ElementTree.fromstring(svg.document("x"))
    found = []
    for one in root.iter("{http://www.w3.org/2000/svg}text"):
        size, x, y = (float(one.attrib[name]) for name in ("font-size", "x", "y"))
        width = text_width(one.text or "", size)
        left = x - {"start": 0.0, "middle": width / 2, "end": width}[one.attrib["text-anchor"]]
        found.append((left, y - 0.75 * size, left + width, y + 0.2 * size, one.text or ""))
    return found


def assert_none_overlap(svg: Svg) -> None:
    for a, b in itertools.combinations(texts(svg), 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, (a, b)
    for left, _, right, bottom, text in texts(svg):
        assert left >= 0, text
        assert right <= svg.width, text
        assert bottom <= svg.height, text


@pytest.mark.parametrize("threads", [1, 7, 40])
def test_labels_of_the_figure_do_not_overlap(threads: int) -> None:
    keys = [f"a-process-with-a-name/and-a-thread-with-one-too/{n}" for n in range(threads)]
    assert_none_overlap(draw_strings([("before", recording(*keys)), ("after", recording(*keys))]))


def test_a_recording_without_samples_is_drawn() -> None:
    header = recording("a").header
    assert "0 threads" in draw_strings([("empty", Recording(header))]).document("x")


def test_the_same_thread_has_the_same_colour_before_and_after() -> None:
    before, after = recording("a/x/0", "a/y/0"), recording("a/y/0", "a/x/0")
    root = ElementTree.fromstring(draw_strings([("b", before), ("a", after)]).document("x"))
    colours: dict[str, set[str]] = {}
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        first = next(iter(group.iter("{http://www.w3.org/2000/svg}path")))
        colours.setdefault(group.attrib["data-key"], set()).add(first.attrib["stroke"])
    assert all(len(found) == 1 for found in colours.values())
    assert colours["a/x/0"] != colours["a/y/0"]


def test_a_string_steps_where_its_thread_moved() -> None:
    scale = PanelScale(top=0.0, seconds=10.0, cores=(0, 1), most_use=1.0)
    string = String(thread(0, "a"), [0.0, 4.0, 4.001, 8.0], [0, 1, 0, 1], [0, 1, 1, 2])
    line = step_line(scale, string, 10.0, 0.5)
    assert line.count("V") == 1, "moves within half a pixel, there and back, are none"
    assert line.startswith(f"M{scale.x(0):g} {scale.y(0, 0.5):g}")
    assert line.endswith(f"V{scale.y(1, 0.5):g}H{scale.x(10):g}")


def test_it_is_thick_only_where_time_was_used() -> None:
    scale = PanelScale(top=0.0, seconds=10.0, cores=(0, 1), most_use=1.0)
    string = String(thread(0, "a"), [0.0, 4.0, 5.0, 9.0], [0, 0, 0, 1], [0, 10, 20, 20])
    y = scale.y(0, 0.5)
    line = busy_line(scale, string, 1.0, 0.5)
    assert line == f"M{scale.x(3):g} {y:g}H{scale.x(5):g}"


def test_names_are_escaped_everywhere() -> None:
    svg = draw_strings([("<b>", recording('a/<script>"&\x1b/0'))])
    assert ElementTree.fromstring(svg.document("<x>")) is not None
    page = html(svg, "<script>")
    assert '<script>"&' not in page
    assert page.count("<script>") == 1
    assert "\x1b" not in page


def test_the_page_needs_no_network() -> None:
    page = html(draw_strings([("x", recording("a"))]), "x")
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_kinds_of_files(tmp_path: Path) -> None:
    svg = draw_strings([("x", recording("a"))])
    for name, starts in (("p.svg", b"<svg"), ("p.png", b"\x89PNG"), ("p.html", b"<!DOCTYPE")):
        write_picture(svg, tmp_path / name, "x")
        assert (tmp_path / name).read_bytes().startswith(starts)
    with pytest.raises(BadInput, match=r"p\.gif: is not a name of a picture"):
        write_picture(svg, tmp_path / "p.gif", "x")


@pytest.fixture(params=MACHINES, ids=lambda path: path.name.split(".")[0])
def machine(request: pytest.FixtureRequest) -> Snapshot:
    path: Path = request.param
    return read_source(path)


@pytest.mark.unhurried
def test_every_machine_has_a_map(machine: Snapshot) -> None:
    host = host_map(machine, None)
    svg = draw_map(host)
    assert_none_overlap(svg)
    whole = boxes_of(host)
    whole.lay_out(968)
    assert sorted(cpus_of(whole)) == sorted(machine.topology.by_number)
    assert_apart(whole)


def cpus_of(box: Box) -> list[int]:
    own = [] if box.cpu is None else [box.cpu]
    return own + [cpu for child in box.children for cpu in cpus_of(child)]


def assert_apart(box: Box) -> None:
    for a, b in itertools.combinations(box.children, 2):
        beside = a.x + a.width <= b.x or b.x + b.width <= a.x
        assert beside or a.y + a.height <= b.y or b.y + b.height <= a.y
    for child in box.children:
        assert child.x + child.width <= box.width
        assert child.y + child.height <= box.height
        assert_apart(child)


def planned() -> HostMap:
    pins = (
        Pin(target=PinTarget.VCPU, name="0", cpus=(2,), reason="next to nvme0", guest="vm1"),
        Pin(target=PinTarget.EMULATOR, name="", cpus=(3,), reason="left over", guest="vm1"),
    )
    roles = {0: CpuRole.STORAGE_IRQ, 1: CpuRole.OSS, 2: CpuRole.VCPU, 3: CpuRole.EMULATOR}
    irq = Interrupt(number=40, device="nvme0", kind=DeviceKind.STORAGE, queue=1, effective=(0,))
    snapshot = Snapshot(host="oss1", topology=TOPOLOGY, interrupts=(irq,))
    return host_map(snapshot, HostPlacement(host="oss1", roles=roles, pins=pins))


def test_a_plan_is_told_at_each_cpu() -> None:
    host = planned()
    assert host.cells[2].mark == "A0"
    assert "vm1 vCPU 0: next to nvme0" in host.cells[2].about
    assert "interrupt 40: nvme0 queue 1" in host.cells[0].about
    assert host.guests == {"vm1": "A"}
    document = draw_map(host).document("x")
    assert "storage interrupt" in document
    assert "A: vm1" in document


def test_the_map_reads_without_colours(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    print_map(planned(), Console(width=100, color_system=None))
    shown = capsys.readouterr().out
    assert "[0S^] [1O] [2V:A0] [3E:Ae]" in shown
    assert "oss1: CPUs as planned" in shown


def test_a_plan_that_is_none_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text('{"host": "x", "roles": {"0": "cook"}}')
    assert run_command(["affinity", "map", "--from", str(SMALL), str(plan)]) == 2
    assert "plan.json: is not a plan: roles.0" in capsys.readouterr().err


def test_a_plan_of_another_machine_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text('{"host": "x", "roles": {"4095": "oss"}}')
    assert run_command(["affinity", "map", "--from", str(SMALL), str(plan)]) == 2
    assert "the plan of x: has CPUs that" in capsys.readouterr().err


def test_the_picture_of_a_joint_plan_has_the_rules_above_it(tmp_path: Path) -> None:
    out = tmp_path / "links.svg"
    source = str(next(path for path in MACHINES if path.name.startswith("24em64t")))
    words = ["affinity", "explain", "--from", source, "--vcpus", "8", "--out", str(out)]
    assert run_command(words) == 0
    drawn = ElementTree.parse(out).getroot()
    said = [one.text or "" for one in drawn.iter("{http://www.w3.org/2000/svg}text")]
    scores = [float(text.rpartition(" ")[2]) for text in said if ": score " in text]
    assert len(scores) == 2
    assert scores[1] <= scores[0]


def test_links_are_what_the_score_counts() -> None:
    plan = plan_host(read_source(SMALL), [GuestRequest(vcpus=2)])
    maps = linked_maps(plan)
    assert_none_overlap(draw_links(maps))
    links = maps[-1].links
    arrays, places = plan.planned.problem.arrays, plan.planned.places
    found = terms(arrays, places)
    paid = sum(link.cost for link in links if not link.to_interrupt)
    assert 0 < paid <= found.communication.sum() + 1e-9
    assert paid >= 0.9 * found.communication.sum()


def test_a_plan_of_threads_has_no_such_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    threads = (Thread(tid=7, pid=7, key="a/b/0", name="b", role=ThreadRole.STORAGE, cpu=0.5),)
    file = tmp_path / "host.json"
    file.write_text(Snapshot(host="h", topology=TOPOLOGY, threads=threads).model_dump_json())
    assert run_command(["affinity", "explain", "--from", str(file), "--out", "x.svg"]) == 2
    assert "plans of guests" in capsys.readouterr().err
