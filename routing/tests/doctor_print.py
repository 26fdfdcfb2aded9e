"""Prints the findings on `oss1` of the small site as JSON, of the namespace it runs in."""

from __future__ import annotations

import json

from site_map import site
from vas_routing.doctor import examine, read_facts

from vas_core.root import Root

print(json.dumps([finding.as_json() for finding in examine(site(), "oss1", read_facts(Root()))]))
