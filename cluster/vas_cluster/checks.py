"""The checks of `vas doctor` for a machine that hosts guests."""

from __future__ import annotations

from collections.abc import Iterator

from vas_core.doctor import DoctorFinding
from vas_core.root import Root


def check(root: Root) -> Iterator[DoctorFinding]:
    """Yields one finding: whether this machine has KVM, to host a guest."""
    there = root.path("dev/kvm").exists()
    yield DoctorFinding(
        name="KVM",
        ok=there,
        found="/dev/kvm (present; whether it boots a guest is not tried)" if there else "no",
        needed_for="real guests (not the lab)",
        fix="on a site: enable virtualisation in the firmware and load kvm_intel or kvm_amd",
        optional=True,
    )
