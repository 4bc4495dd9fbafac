"""Late groups: how many the watermark drops in a micro-batch, asked of the running query.

Spark says it in the progress of a query, after the batch; a table notes it with the batch, and so before. The numbers
are the same metrics of the plan's stateful operators. They count groups, since rows are aggregated once
before state is looked at: zero means that nothing was dropped, any other number that at least so many were.

Read next: table_writer.py; verification.py, which holds the counts of a table against it.
"""

from __future__ import annotations

import logging
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkAttributeError
from pyspark.sql import SparkSession

from andiron.model.line import Line

DROPPED = "numRowsDroppedByWatermark"

log = logging.getLogger(__name__)


def late_groups(session: SparkSession, query: str) -> int:
    """What the operators of a running query have dropped in its current batch; 0 for a query without state.

    Through Spark Connect nobody tells, and it is 0 too: a table that holds a count lacks those when it is verified.
    """
    try:
        jvm: Any = session.sparkContext._jvm
        running = session._jsparkSession.sharedState().activeStreamingQueries()
        found = running.get(jvm.java.util.UUID.fromString(query))
        return 0 if found is None else _dropped(found.lastExecution().executedPlan())
    except PySparkAttributeError:
        return 0
    except Py4JError:  # it is Spark's inside that is asked, and a number for people that is missing then
        log.warning(Line("Late rows that were dropped cannot be counted"), exc_info=True)
        return 0


def _dropped(node: Any) -> int:
    found = node.metrics().get(DROPPED)
    here = int(found.get().value()) if found.isDefined() else 0
    children = node.children()
    return here + sum(_dropped(children.apply(at)) for at in range(children.size()))
