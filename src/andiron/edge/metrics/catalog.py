"""Every metric there is, and the text of all of them.

Read next: replication.py, traffic.py, cluster.py, clients.py, process.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from andiron.broker.telemetry.group_stats import LagWatch
from andiron.edge.metrics import clients, cluster, process, replication, traffic
from andiron.edge.metrics.survey import Survey
from andiron.edge.metrics.text import render

if TYPE_CHECKING:
    from andiron.broker.node.node import Node
    from andiron.edge.host import Host

SECTIONS = {
    "Replication": replication.FAMILIES,
    "Traffic": traffic.FAMILIES,
    "The cluster, groups and transactions": cluster.FAMILIES,
    "Clients": clients.FAMILIES,
    "The process": process.FAMILIES,
}
FAMILIES = [family for families in SECTIONS.values() for family in families]


def scraper(host: Host, node: Node) -> Callable[[], Iterator[bytes]]:
    """Gives the text of all metrics, in pieces, some of them empty, each a fraction of a millisecond's work."""
    watch = LagWatch()

    def scrape() -> Iterator[bytes]:
        survey = Survey(host, node, watch)
        try:
            for _ in survey.gather():
                yield b""
            yield from render(FAMILIES, survey)
        except Exception:
            host.failures += 1
            raise

    return scrape
