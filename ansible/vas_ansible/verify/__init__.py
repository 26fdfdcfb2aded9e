"""Judges the observations of verify.yml on a site's machines and renders its report. Pure."""

from vas_ansible.verify.check import Check, CheckStatus
from vas_ansible.verify.examine import VerifyLimits, examine
from vas_ansible.verify.report import as_html, as_json, lines

__all__ = ["Check", "CheckStatus", "VerifyLimits", "as_html", "as_json", "examine", "lines"]
