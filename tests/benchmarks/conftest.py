"""The benchmarks' own parts are found as they find each other: by the names they have in their folder."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
