"""How far a query is behind its topics: the numbers that Spark's own connector adds to a query's progress.

    spark.offsets_behind(query.lastProgress.sources[0])
    {"minOffsetsBehindLatest": 0, "maxOffsetsBehindLatest": 40, "avgOffsetsBehindLatest": 13.3}

Spark 4.3 asks a source in Python for no metrics: the class that stands for it in Java does not report any. But where
a batch ended, and where the logs ended at the time, is in the progress of every query, and the rest is arithmetic.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from pyspark.sql.streaming.listener import SourceProgress

from andiron.spark.source.offsets import of_json


def offsets_behind(source: SourceProgress) -> Mapping[str, float]:
    """The least, the most and the average over all partitions; nothing where the progress does not tell."""
    ended, latest = source.endOffset, source.latestOffset
    if not ended or not latest or "null" in (ended, latest):
        return {}
    done, ends = of_json(json.loads(ended)), of_json(json.loads(latest))
    behind = [max(0, end - done.get(partition, 0)) for partition, end in ends.items()]
    if not behind:
        return {}
    return {
        "minOffsetsBehindLatest": min(behind),
        "maxOffsetsBehindLatest": max(behind),
        "avgOffsetsBehindLatest": math.floor(10 * sum(behind) / len(behind) + 0.5) / 10,  # as Spark rounds it
    }
