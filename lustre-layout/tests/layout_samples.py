"""Where the vectors and transcripts are, and hypothesis strategies for layouts."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from vas_cluster import Cluster
from vas_layout.model import (
    INIT,
    OVERSTRIPING,
    RAID0,
    Component,
    Composite,
    Fid,
    Foreign,
    Magic,
    Plain,
    StripeObject,
)

ROOM = Path(__file__).parent.parent
VECTORS = ROOM / "vectors"
TRANSCRIPTS = ROOM / "tests/transcripts"


def transcript(path: Path) -> str:
    """The stdout part of a transcript (`$ command`, stdout, stderr, `exit N`)."""
    return path.read_text().split("=== stdout\n", 1)[1].rsplit("=== stderr\n", 1)[0]


def vector(name: str) -> bytes:
    return (VECTORS / f"{name}.bin").read_bytes()


u16 = st.integers(0, 0xFFFE)
u32 = st.integers(0, 0xFFFFFFFF)
u64 = st.integers(0, 0xFFFFFFFFFFFFFFFE)
pools = st.none() | st.text("abcXYZ019_-.", min_size=1, max_size=15)
objects = st.builds(StripeObject, u32, st.builds(Fid, u64, u32, u32))


@st.composite
def plains(draw: st.DrawFn, max_objects: int = 12) -> Plain:
    made = tuple(draw(st.lists(objects, max_size=max_objects)))
    pool = draw(pools)
    return Plain(
        magic=Magic.V3 if pool else Magic.V1,
        pattern=RAID0 | draw(st.sampled_from([0, OVERSTRIPING, 0x40000000])),
        stripe_size=draw(st.integers(1, 0xFFFFFFFF)),
        stripe_count=len(made) if made else draw(st.integers(-32, 2000)),
        stripe_offset=made[0].ost_idx if made else draw(st.none() | u16),
        layout_gen=draw(u16) if made else 0,
        pool=pool,
        objects=made,
    )


foreigns = st.builds(Foreign, u32, u32, st.binary(max_size=40))


@st.composite
def components(draw: st.DrawFn) -> Component:
    start, end = sorted((draw(u64), draw(u64)))
    return Component(
        id=draw(u32),
        flags=draw(st.sampled_from([0, INIT, INIT | 1, 0x40])),
        extent_start=start,
        extent_end=draw(st.just(end) | st.none()),
        layout=draw(plains() | foreigns),
    )


composites = st.builds(
    Composite, u32, u16, st.integers(1, 16), st.lists(components(), min_size=1).map(tuple)
)
layouts = plains() | foreigns | composites


def site(mount: str = "/lustre") -> Cluster:
    """Four servers with one OST and one guest each; oss1 has a second rail."""
    hosts = [
        {
            "name": f"oss{n}",
            "address": f"10.77.0.1{n}",
            "nids": [f"10.77.0.1{n}@tcp", *([f"10.78.0.1{n}@tcp1"] if n == 1 else [])],
            "osts": [n - 1],
            "nics": {"pf": "pf0", "vf": "vf0", "bridge": "virbr0"},
            "guests": [
                {
                    "name": f"vm{n}",
                    "address": f"10.77.0.2{n}",
                    "macs": {"vf": f"52:54:00:77:01:0{n}", "virtio": f"52:54:00:77:02:0{n}"},
                    "memory": "6GiB",
                    "vcpus": 4,
                }
            ],
        }
        for n in range(1, 5)
    ]
    return Cluster.model_validate(
        {
            "site": "test",
            "lustre": {"fsname": "lab", "mount": mount, "mgs_nids": ["10.77.0.1@tcp"]},
            "hosts": hosts,
            "yarn": {"resourcemanager": {"name": "rm", "address": "10.77.0.2"}},
        }
    )
