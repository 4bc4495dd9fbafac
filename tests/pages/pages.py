"""Which pages there are, and what each takes for given: a node, topics with records, a cluster.

What is given is typed into the same bash before the page's first block, so it can be whatever a reader can type. A page
without blocks to run needs no line here; `test_pages.py` tells of one that needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "pipelines", "examples", "deploy")
# Blocks of these languages are read, not typed: pictures, listings, what a program printed once.
READ = {"text"}


@dataclass(frozen=True, slots=True)
class Given:
    """What a page takes for given, as commands; whether it needs Spark, which takes its time, or takes it anyway; and
    programs that not every machine has."""

    commands: str = ""
    spark: bool = False
    slow: bool = False
    programs: tuple[str, ...] = ()


NODE = "andiron up\n"
# `make run`, as far as the log knows: its node, its topic, orders in it.
MAKE_RUN = NODE + "python pipelines/orders/feed.py --orders 50 --bootstrap localhost:9092"
ORDERS = """
andiron topic create orders --partitions 4
seq 1000 | andiron produce orders
"""
# A group that has read some of the orders, and has no members now.
BILLING = """
python -c '
from confluent_kafka import Consumer
billing = Consumer({
    "bootstrap.servers": "localhost:9092", "group.id": "billing", "auto.offset.reset": "earliest",
})
billing.subscribe(["orders"])
billing.consume(500, 10)
billing.commit(asynchronous=False)
billing.close()
'
"""
# Orders as JSON, of which three are none.
TYPED_ORDERS = """
andiron topic create orders --partitions 4
{
    seq 197 | sed 's/.*/{"id": "&", "amount": "12.50", "at": "2026-01-02T12:00:00Z"}/'
    printf 'no order\\n{}\\n{"id": 4}\\n'
} | andiron produce orders
"""
# What a file of the reader's own may say; its ports are in nobody's way.
SERVER_PROPERTIES = """
cat > server.properties <<END
node.id=1
process.roles=broker,controller
listeners=PLAINTEXT://localhost:9110,CONTROLLER://localhost:9111
controller.listener.names=CONTROLLER
controller.quorum.voters=1@localhost:9111
log.dirs=$PWD/as-kafka-says
END
"""

PAGES = {
    "README.md": Given(MAKE_RUN, spark=True),
    "docs/chaos.md": Given(slow=True),
    "docs/folders.md": Given(NODE + ORDERS),
    "docs/getting-started.md": Given(MAKE_RUN, slow=True, programs=("pkill",)),
    "docs/groups.md": Given(NODE + ORDERS + BILLING),
    "docs/metrics.md": Given(),
    "docs/operations.md": Given("andiron up --data node" + ORDERS + BILLING + SERVER_PROPERTIES, slow=True),
    "docs/simulation.md": Given(),
    "docs/spark.md": Given(NODE + ORDERS, spark=True),
    "docs/spark-clusters.md": Given(),
    "docs/spark-sink.md": Given(NODE + ORDERS, spark=True),
    "docs/tables.md": Given(NODE + TYPED_ORDERS, spark=True),
    "docs/transactions.md": Given(NODE + ORDERS),
    "pipelines/orders/README.md": Given(),
}


def all_pages() -> list[str]:
    """Every page that shows a reader what to type."""
    found = [page for folder in FOLDERS for page in sorted((ROOT / folder).rglob("*.md"))]
    return ["README.md", *(str(page.relative_to(ROOT)) for page in found)]
