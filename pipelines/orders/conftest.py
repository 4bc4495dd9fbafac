"""The job's modules import each other by their plain names, as they do under spark-submit; so do the tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
