"""The job's modules import each other by their plain names, as they do under spark-submit; so do the tests."""

from __future__ import annotations

import sys
from pathlib import Path

from peers.quick_spark import use_quick_spark

sys.path.insert(0, str(Path(__file__).parent))
use_quick_spark()
