"""The keys of `vas bench fetch` with TLS, made by the real keytool."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vas_bench.fetch.tls import make_tls
from vas_core.process import echo_programs, run
from vas_lab.spec import find_java

pytestmark = [pytest.mark.machine, pytest.mark.unhurried]


def test_no_command_line_holds_the_password(tmp_path: Path) -> None:
    java, directory, lines = find_java(), tmp_path / "tls", list[str]()
    echo_programs(lines.append)
    try:
        make_tls(directory, java)
    finally:
        echo_programs(None)
    found = re.search(
        r"keystore.password</name><value>(\w+)", (directory / "ssl-server.xml").read_text()
    )
    assert found is not None and len(lines) == 4
    assert not any(found[1] in line for line in lines)
    listed = [java / "bin/keytool", "-list", "-keystore", directory / "keys.p12"]
    assert "shuffle" in run([*listed, "-storepass:file", directory / "password"]).stdout
    assert (directory / "key.pem").stat().st_mode & 0o77 == 0
    assert directory.stat().st_mode & 0o77 == 0
