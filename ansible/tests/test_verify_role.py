"""What the role `verify` installs to measure with, and takes away again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

ROLE = Path(__file__).parents[1] / "roles/verify"


def lacking(where: str, *has: str, **left: str) -> Any:
    variables = DataLoader().load_from_file(str(ROLE / "vars/main.yml"), trusted_as_template=True)
    tools = [
        {"item": name, "stat": {"exists": name in has}} for name in ("iperf3", "fio", "iozone")
    ]
    here = {f"__vas_verify_is_{kind}": kind == where for kind in ("server", "guest", "manager")}
    known = variables | here | {"__vas_verify_tools": {"results": tools}, "__vas_verify_left": left}
    return Templar(DataLoader(), variables=known).template(known["__vas_verify_lacking"])


@pytest.mark.machine  # importing Ansible looks for a controller of jobs
def test_only_what_is_missing_and_used_is_installed() -> None:
    assert lacking("guest") == ["iperf3", "fio"]
    assert lacking("guest", "iperf3", "iozone") == []
    assert lacking("guest", paths="left out") == ["fio"]
    assert lacking("server") == ["iperf3"]
    assert lacking("server", "iperf3") == []
    assert lacking("manager") == []


def test_it_goes_again_however_the_measurement_ends() -> None:
    tasks = yaml.safe_load((ROLE / "tasks/main.yml").read_text())
    (measured,) = [task for task in tasks if "always" in task]
    assert measured["block"][0]["ansible.builtin.include_tasks"] == "tools.yml"
    assert measured["always"][0]["vas.site.vas_packages"] == {"role": "verify", "state": "absent"}
