"""Compares IP addresses as text: one value, however it is written."""

from __future__ import annotations

import ipaddress


def one_spelling(text: str) -> str:
    """Returns one spelling of `ADDRESS` or `ADDRESS@NETWORK`; any other text unchanged."""
    address, at, network = text.partition("@")
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return text
    return f"{getattr(ip, 'ipv4_mapped', None) or ip}{at}{network}"
