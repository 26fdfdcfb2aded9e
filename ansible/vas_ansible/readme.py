"""Generates the table of options in each role's README from its argument_specs.yml.

`python -m vas_ansible.readme` writes every README again; a test compares them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

ROLES = Path(__file__).resolve().parents[1] / "roles"
_START, _END = "<!-- options -->", "<!-- end of options -->"


def options_of(role: Path) -> dict[str, dict[str, Any]]:
    """Returns option -> specification, from the role's argument_specs.yml."""
    specs = yaml.safe_load((role / "meta/argument_specs.yml").read_text())
    return dict(specs["argument_specs"]["main"]["options"] or {})


def defaults_of(role: Path) -> dict[str, object]:
    """Returns option -> default, from the role's defaults/main.yml."""
    file = role / "defaults/main.yml"
    return dict(yaml.safe_load(file.read_text()) or {}) if file.exists() else {}


def readme(role: Path) -> str:
    """Returns the role's README with its present text and a generated table of options."""
    before, _, rest = (role / "README.md").read_text().partition(_START)
    after = rest.partition(_END)[2]
    return f"{before}{_START}\n{_table(role)}{_END}{after}"


def _table(role: Path) -> str:
    rows = "".join(
        f"| `{name}` | {_shown(option)} | {_text(option['description'])} |\n"
        for name, option in options_of(role).items()
    )
    return f"| option | default | |\n|---|---|---|\n{rows}" if rows else "It has no options.\n"


def _shown(option: dict[str, Any]) -> str:
    if "default" not in option:
        return ""
    value = option["default"]
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`" if text else "none"


def _text(description: str | list[str]) -> str:
    text = " ".join(description) if isinstance(description, list) else description
    return re.sub(r"C\(([^)]*)\)", r"`\1`", text)


def main() -> None:
    """Writes every role's README with a generated table."""
    for role in sorted(ROLES.iterdir()):
        (role / "README.md").write_text(readme(role))


if __name__ == "__main__":
    main()
