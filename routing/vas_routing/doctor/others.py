"""Reads the state of other programs: firewall, NetworkManager, systemd-networkd. Changes
nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from configparser import ConfigParser
from configparser import Error as BadConfig
from contextlib import suppress
from pathlib import Path
from typing import Any

from vas_core.errors import VasError
from vas_core.process import run
from vas_core.root import Root
from vas_routing.doctor.facts import FirewallState, ForwardChain, Managed, NicFacts

_OF_CHAIN = {"family": "family", "table": "table", "chain": "name"}
_LEGACY = {"ip_tables_names": "iptables", "ip6_tables_names": "ip6tables"}
_SETTINGS = ("etc/systemd", "run/systemd", "usr/local/lib/systemd", "usr/lib/systemd")


def read_firewall(root: Root) -> FirewallState:
    """Returns the chains at the forward hook that `nft` prints; notes rules of older iptables, and
    what cannot be read, in `unread`."""
    unread = list(_legacy(root))
    try:
        chains = forward_chains(run(["nft", "-j", "list", "ruleset"], timeout_seconds=20).stdout)
    except (VasError, ValueError) as error:
        why = error.what if isinstance(error, VasError) else str(error)
        return FirewallState(unread=(f"nft: {' '.join(why.split())}", *unread))
    return FirewallState(chains=chains, unread=tuple(unread))


def _legacy(root: Root) -> Iterator[str]:
    for file, program in _LEGACY.items():
        try:
            tables = root.read(f"proc/net/{file}") or ""
        except OSError as error:
            yield f"{program}: /proc/net/{file}: {error.strerror}"
            continue
        if "filter" in tables.split():
            yield f"{program} of the older kind has rules, which nft does not show"


def forward_chains(ruleset: str) -> tuple[ForwardChain, ...]:
    """Returns the chains at the forward hook of `nft -j list ruleset`.

    Raises ValueError if the text is not JSON.
    """
    objects = json.loads(ruleset)["nftables"] if ruleset.strip() else []
    chains = [each["chain"] for each in objects if "chain" in each]
    rules = [each["rule"] for each in objects if "rule" in each]
    return tuple(
        ForwardChain(
            family=chain["family"],
            table=chain["table"],
            name=chain["name"],
            policy=chain.get("policy", "accept"),
            accepts=frozenset(_accepted(chain, rules)),
        )
        for chain in chains
        if chain.get("hook") == "forward"
    )


def _accepted(
    chain: dict[str, Any], rules: Iterable[dict[str, Any]]
) -> Iterator[tuple[str | None, str | None]]:
    """The ways that rules accept by their devices alone: those that ask for more may not."""
    for rule in rules:
        if any(rule[theirs] != chain[own] for theirs, own in _OF_CHAIN.items()):
            continue
        steps = [step for step in rule.get("expr", ()) if "counter" not in step]
        if steps and "accept" in steps[-1]:
            devices = [_device(step.get("match", {})) for step in steps[:-1]]
            if None not in devices:
                named = dict(each for each in devices if each)
                yield named.get("iifname"), named.get("oifname")


def _device(match: dict[str, Any]) -> tuple[str, str] | None:
    """The device that a packet enters or leaves by, if that is what is asked for."""
    key, right = match.get("left", {}).get("meta", {}).get("key"), match.get("right")
    if match.get("op") != "==" or not isinstance(right, str) or "*" in right:
        return None
    return (key, right) if key in ("iifname", "oifname") else None


def read_managed(
    root: Root, nics: Iterable[NicFacts], unread: dict[str, str]
) -> dict[str, Managed]:
    """Returns the program that configures each interface, by the interface's name.

    Reasons why one could not be read go to `unread`. Empty in another network namespace than these
    programs': they know interfaces by index, which means another interface here.
    """
    if _is_elsewhere(root):
        return {}
    return {nic.name: _managed(root, nic.index, unread) for nic in nics}


def _is_elsewhere(root: Root) -> bool:
    with suppress(OSError):
        ours, theirs = (root.path(f"proc/{who}/ns/net").readlink() for who in ("self", "1"))
        return ours != theirs
    return False


def _managed(root: Root, index: int, unread: dict[str, str]) -> Managed:
    manager = read(root, f"run/NetworkManager/devices/{index}", unread) or ""
    link = read(root, f"run/systemd/netif/links/{index}", unread) or ""
    networkd = dict(
        line.split("=", 1) for line in link.splitlines() if "=" in line and not line.startswith("#")
    )
    return Managed(
        network_manager="managed=true" in manager.splitlines(),
        networkd=networkd.get("ADMIN_STATE"),
        network_file=networkd.get("NETWORK_FILE") or None,
    )


def read_networkd(root: Root, unread: dict[str, str]) -> dict[str, str] | None:
    """Returns the [Network] settings of systemd-networkd; None if it has not run since boot.

    Reasons why a file could not be read go to `unread`.
    """
    if _is_elsewhere(root) or not root.path("run/systemd/netif/state").exists():
        return None
    settings: dict[str, str] = {}
    for file in _networkd_files(root):
        parser = ConfigParser(strict=False, interpolation=None, allow_no_value=True)
        parser.optionxform = str  # type: ignore[assignment, method-assign]
        try:
            parser.read_string(file.read_text(errors="replace"))
        except (OSError, BadConfig) as error:
            unread[f"/{file.relative_to(root.directory)}"] = str(error).splitlines()[0]
        else:
            found = parser["Network"].items() if "Network" in parser else ()
            settings |= {key: value for key, value in found if value is not None}
    return settings


def _networkd_files(root: Root) -> list[Path]:
    """The first main file, then drop-ins by their names; one name in /etc hides it elsewhere."""
    main = [root.path(f"{place}/networkd.conf") for place in _SETTINGS]
    drop_ins: dict[str, Path] = {}
    for place in reversed(_SETTINGS):
        drop_ins |= {file.name: file for file in root.glob(f"{place}/networkd.conf.d/*.conf")}
    first = next((file for file in main if file.is_file()), None)
    return ([first] if first else []) + [drop_ins[name] for name in sorted(drop_ins)]


def read(root: Root, path: str, unread: dict[str, str]) -> str | None:
    """Returns a file's text; None if it is missing or may not be read; then `unread` gets why."""
    try:
        return root.read(path)
    except OSError as error:
        unread[f"/{path}"] = error.strerror or str(error)
        return None
