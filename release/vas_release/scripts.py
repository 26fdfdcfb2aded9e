"""The scripts that dpkg and rpm run at an installation and a removal.

They do what systemd needs and no more: users of sysusers.d, a reload of the units, the end of units
that are removed. None enables or starts a unit; an upgrade restarts daemons that run.
"""

from __future__ import annotations

from vas_release.system_package import SystemPackage

_RUNS = "[ -d /run/systemd/system ]"
_RELOAD = f"if {_RUNS}; then systemctl daemon-reload; fi"


def installed(package: SystemPackage, upgrade: str) -> str:
    """Returns the shell's lines after an installation; `upgrade` is a test: was it an upgrade?

    Empty for a package without users and units.
    """
    lines = [f"systemd-sysusers {package.users}"] if package.users else []
    if package.units:
        lines.append(_RELOAD)
    if package.restarted:
        units = " ".join(package.restarted)
        lines.append(f"if {_RUNS} && {upgrade}; then systemctl try-restart {units}; fi")
    return "".join(f"{line}\n" for line in lines)


def before_removal(package: SystemPackage) -> str:
    """Returns the shell's lines before a removal, which end and disable the package's units."""
    if not package.units:
        return ""
    # Instances of a template are disabled by its name, and stopped by a pattern.
    running = " ".join(f"'{unit.replace('@.', '@*.')}'" for unit in package.units)
    return (
        f"systemctl --no-reload disable {' '.join(package.units)}\n"
        f"if {_RUNS}; then systemctl stop {running}; fi\n"
    )


def after_removal(package: SystemPackage) -> str:
    """Returns the shell's lines after a removal."""
    return f"{_RELOAD}\n" if package.units else ""
