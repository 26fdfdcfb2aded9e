"""What verify.yml saw on a site's machines, judged, and written down. Pure."""

from vas_ansible.verify.check import Check, Verdict
from vas_ansible.verify.examine import Asked, examine
from vas_ansible.verify.report import as_html, as_json, lines

__all__ = ["Asked", "Check", "Verdict", "as_html", "as_json", "examine", "lines"]
