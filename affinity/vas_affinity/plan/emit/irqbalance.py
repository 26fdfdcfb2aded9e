"""Writes a policy script for irqbalance, which keeps it from moving the plan's interrupts."""

from __future__ import annotations

import shlex

from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.placement import CpuRole, HostPlacement, PinTarget
from vas_affinity.plan.emit.guests import pins_of

_KEPT_CLEAR = {CpuRole.VCPU, CpuRole.EMULATOR, CpuRole.IOTHREAD, CpuRole.IDLE, CpuRole.STORAGE_IRQ}

_TEXT = """\
#!/usr/bin/env bash
# The interrupts of {host} that irqbalance may not move, by `vas affinity emit --as irqbalance`.
# irqbalance runs this script for each interrupt, with the path of its device in sysfs and its
# number. Stopping irqbalance would leave all other interrupts where they happen to be.
# In /etc/default/irqbalance (Debian) or /etc/sysconfig/irqbalance (Rocky), owned by root:
#   IRQBALANCE_ARGS="--policyscript=/etc/vas/irqbalance-policy"
#   IRQBALANCE_BANNED_CPULIST={banned}
set -euo pipefail

# is_of PATH DEVICE: the kernel reuses interrupt numbers after a boot, or when a driver is loaded.
is_of() {{
    local found
    if [[ ${{1##*/}} == "$2" ]]; then
        return
    fi
    for found in "$1"/{{,*/,*/*/}}{{net,nvme,block}}/"$2" "$1"/*/*/*/*/block/"$2"; do
        if [[ -e $found ]]; then
            return
        fi
    done
    return 1
}}

case $2 in
{cases}*) ;;
esac
"""


def policy_script(placement: HostPlacement) -> str:
    """Returns a script that prints `ban=true` for each interrupt that the plan places.

    An interrupt number counts only if it still belongs to the plan's device.
    """
    pins = pins_of(placement, PinTarget.INTERRUPT)
    cases = [
        f"{shlex.quote(pin.name)}) # {' '.join(pin.reason.split())}\n"
        f'    if is_of "$1" {shlex.quote(pin.device or "")}; then echo ban=true; fi\n'
        f"    ;;\n"
        for pin in pins
    ]
    banned = format_cpulist(cpu for cpu, role in placement.roles.items() if role in _KEPT_CLEAR)
    host = " ".join(placement.host.split())
    return _TEXT.format(host=host, banned=banned, cases="".join(cases))
