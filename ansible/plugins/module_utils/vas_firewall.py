"""Reads the rules that firewalld, nftables and iptables print: which traffic they accept. Pure."""

from __future__ import annotations

import re
from typing import Any


def port_of_rich_rule(rule: str) -> list[str]:
    """Returns the PORT/PROTOCOL that a rich rule of firewalld accepts; empty for other rules."""
    found = re.search(r'\bport port="([\d-]+)" protocol="(\w+)"', rule)
    return [f"{found[1]}/{found[2]}"] if found and rule.split()[-1] == "accept" else []


def source_of_rich_rule(rule: str) -> list[str]:
    """Returns the network from which a rich rule accepts all traffic; empty for other rules."""
    found = re.fullmatch(r'rule family="ipv[46]" source address="([\da-fA-F.:/]+)" accept', rule)
    return [found[1]] if found else []


def has_guest_rules(ruleset: list[dict[str, Any]]) -> bool:
    """Returns whether nftables has the table of `vas provision firewall`, which ends in a drop."""
    rules = [part["rule"] for part in ruleset if "rule" in part]
    own = [r for r in rules if (r["table"], r["chain"]) == ("vas_guests", "from_guests")]
    return bool(own) and {"drop": None} in own[-1]["expr"]


def chains_of_nft(ruleset: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns name, hook and accepted traffic of each chain with policy drop.

    `ruleset`: the list `nftables` of `nft -j list ruleset`.
    """
    dropping = [c["chain"] for c in ruleset if c.get("chain", {}).get("policy") == "drop"]
    rules = [rule["rule"] for rule in ruleset if "rule" in rule]
    keys = ("family", "table")
    return [
        {
            "name": " ".join([chain["family"], chain["table"], chain["name"]]),
            "hook": chain["hook"],
            **_let_in(
                [
                    rule["expr"]
                    for rule in rules
                    if rule["chain"] == chain["name"] and all(rule[k] == chain[k] for k in keys)
                ]
            ),
        }
        for chain in dropping
        if chain["hook"] in ("input", "forward")
    ]


def _let_in(rules: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """The traffic that rules accept: `open` interfaces, `ports` by interface, and `sources`."""
    found: dict[str, Any] = {"open": set(), "ports": {}, "sources": set()}
    for expression in rules:
        asked = _matches(expression)
        if asked is None:
            continue
        interfaces, ports, sources = (asked.get(key, []) for key in ("interface", "port", "source"))
        if ports:
            for name in interfaces or ["*"]:
                found["ports"].setdefault(name, []).extend(ports)
        elif sources:
            found["sources"] |= {*sources}
        else:
            found["open"] |= {*interfaces}
    return {**found, "open": sorted(found["open"]), "sources": sorted(found["sources"])}


def _matches(expression: list[dict[str, Any]]) -> dict[str, list[str]] | None:
    """Returns the conditions of a rule that accepts; None for any other rule or condition."""
    if not any("accept" in part for part in expression):
        return None
    asked: dict[str, list[str]] = {}
    for match in (part["match"] for part in expression if "match" in part):
        left, right = match["left"], match["right"]
        values = right["set"] if isinstance(right, dict) and "set" in right else [right]
        payload = left.get("payload", {})
        if match.get("op", "==") not in ("==", "in"):
            return None
        if left in ({"meta": {"key": "iifname"}}, {"meta": {"key": "iif"}}):
            asked["interface"] = [name for name in values if isinstance(name, str)]
        elif payload.get("field") == "dport":
            asked["port"] = [f"{_span(value)}/{payload['protocol']}" for value in values]
        elif payload.get("field") == "saddr":
            asked["source"] = [_network(value) for value in values]
        elif left != {"ct": {"key": "state"}} or "new" not in values:
            return None
    return asked


def _span(value: Any) -> str:
    return "-".join(str(end) for end in value["range"]) if isinstance(value, dict) else str(value)


def _network(value: Any) -> str:
    prefix = value.get("prefix") if isinstance(value, dict) else None
    return f"{prefix['addr']}/{prefix['len']}" if prefix else str(value)


def chains_of_iptables(rules: str) -> list[dict[str, Any]]:
    """Returns name, hook and accepted traffic of INPUT and FORWARD, where their policy is DROP.

    `rules`: output of `iptables -S`.
    """
    lines = [line.split() for line in rules.splitlines()]
    hooks = {"INPUT": "input", "FORWARD": "forward"}
    return [
        {
            "name": f"ip filter {chain}",
            "hook": hook,
            "open": sorted(w[3] for w in lines if _takes_all(w, chain)),
            "ports": ports_of_iptables([w for w in lines if w[:2] == ["-A", chain]]),
            "sources": sorted(w[3] for w in lines if _takes_all(w, chain, "-s")),
        }
        for chain, hook in hooks.items()
        if ["-P", chain, "DROP"] in lines
    ]


def _takes_all(words: list[str], chain: str, option: str = "-i") -> bool:
    whole = [*words[:3], *words[4:]] == ["-A", chain, option, "-j", "ACCEPT"]
    return whole and len(words) == 6


def ports_of_iptables(rules: list[list[str]]) -> dict[str, list[str]]:
    """Returns interface, or "*" for all -> PORT/PROTOCOL of iptables rules that accept."""
    found: dict[str, list[str]] = {}
    for words in rules:
        values = {word: words[n + 1] for n, word in enumerate(words[:-1])}
        numbers = values.get("--dport") or values.get("--dports")
        if numbers and words[-2:] == ["-j", "ACCEPT"]:
            ports = [f"{one.replace(':', '-')}/{values['-p']}" for one in numbers.split(",")]
            found.setdefault(values.get("-i", "*"), []).extend(ports)
    return found
