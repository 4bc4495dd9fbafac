"""The server-side assignors of consumer groups (KIP-848): `uniform` and `range`, which members choose from.

Pure functions from subscriptions and what was assigned before to an assignment. Read next: spec.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from andiron.groups.assignors import range as by_range
from andiron.groups.assignors import uniform
from andiron.groups.assignors.spec import Assignor

ASSIGNORS: Mapping[str, Assignor] = {"uniform": uniform.assign, "range": by_range.assign}
