"""Checks NetworkManager and systemd-networkd: they remove routes and addresses that are not theirs.

Only VAS may configure the virtio leg. The SR-IOV leg has its address from one of these programs,
which must leave it there when the carrier is lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from vas_routing.doctor.facts import Managed
from vas_routing.doctor.finding import RouteFinding, bad, good
from vas_routing.doctor.subject import Subject

_FOREIGN = ("ManageForeignRoutes", "ManageForeignRoutingPolicyRules")
_FALSE = ("no", "false", "0", "off", "n", "f")
_UNMANAGED = ("unmanaged", None)


def examine_managers(who: Subject) -> Iterator[RouteFinding]:
    """Yields the findings on each leg, then on networkd's treatment of other programs' routes."""
    for leg in who.legs:
        managed = who.facts.managed.get(leg.name, Managed())
        is_virtio = leg is who.virtio
        if managed.network_manager:
            yield _network_manager(leg.name, is_virtio)
        if managed.networkd not in _UNMANAGED:
            yield _networkd(leg.name, managed, is_virtio)
        if not managed.network_manager and managed.networkd in _UNMANAGED:
            yield good("managed", leg.name, "by neither NetworkManager nor systemd-networkd")
    yield from _foreign(who)


def _network_manager(device: str, is_virtio: bool) -> RouteFinding:
    file = f"# /etc/NetworkManager/conf.d/90-vas-{device}.conf\n"
    reload = "\n# then: nmcli general reload conf"
    if is_virtio:
        what = "NetworkManager manages it: a connection that it starts there, or gives up, takes "
        what += "VAS's address and routes along"
        text = f"[keyfile]\nunmanaged-devices+=interface-name:{device}"
        reload += f"; nmcli device set {device} managed no"
    else:
        what = "NetworkManager manages it: seconds after the carrier is lost it takes the service "
        what += "address away, and connections by virtio end too"
        text = f"[device-vas-{device}]\nmatch-device=interface-name:{device}\nignore-carrier=yes"
    return bad("managed", device, what, file + text + reload)


def _networkd(device: str, managed: Managed, is_virtio: bool) -> RouteFinding:
    reload = "\n# then: networkctl reload"
    state = f"systemd-networkd manages it ({managed.networkd})"
    if is_virtio or managed.network_file is None:
        what = f"{state}: when it configures it, it takes away addresses and routes of others"
        file = f"# /etc/systemd/network/05-vas-{device}.network\n"
        text = f"[Match]\nName={device}\n\n[Link]\nUnmanaged=yes"
    else:
        what = f"{state}: when the carrier is lost it takes the service address away, and "
        what += "connections by virtio end too"
        base = managed.network_file.rpartition("/")[2]
        file = f"# /etc/systemd/network/{base}.d/90-vas.conf\n"
        text = "[Network]\nIgnoreCarrierLoss=yes"
    return bad("managed", device, what, file + text + reload)


def _foreign(who: Subject) -> Iterator[RouteFinding]:
    """networkd removes routes and rules of others when it starts and when it configures a link."""
    if who.facts.networkd is None:
        yield good("foreign-routes", "systemd-networkd", "does not run")
        return
    wrong = [k for k in _FOREIGN if who.facts.networkd.get(k, "yes").lower() not in _FALSE]
    if not wrong:
        yield good("foreign-routes", "systemd-networkd", "leaves routes and rules of others alone")
        return
    what = f"{' and '.join(wrong)} not set to no: it removes VAS's rule and routes when it starts "
    what += "or configures a link"
    fix = "# /etc/systemd/networkd.conf.d/90-vas.conf\n[Network]\n"
    fix += "\n".join(f"{key}=no" for key in _FOREIGN)
    fix += "\n# then: systemctl restart systemd-networkd; `vas route apply`"
    yield bad("foreign-routes", "systemd-networkd", what, fix)
