"""Prints the findings on `oss1` of the small site as JSON, of the namespace it runs in.

Its argument is VAS's rule priority.
"""

from __future__ import annotations

import json
import sys

from site_map import site

from vas_core.root import Root
from vas_routing.doctor import examine, read_facts
from vas_routing.settings import RouteSettings

settings = RouteSettings(rule_priority=int(sys.argv[1]))
found = examine(site(), "oss1", read_facts(Root(), settings), settings)
print(json.dumps([finding.as_json() for finding in found]))
