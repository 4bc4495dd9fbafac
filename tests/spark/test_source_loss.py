"""Records that are gone before they were read, and other reads that cannot be: told, and never passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from peers.node import Node
from peers.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from peers.queries import Queries

queries_of = pytest.importorskip("peers.queries", reason="pyspark is not installed")
errors = pytest.importorskip("pyspark.errors", reason="pyspark is not installed")

GO_ON = {"failOnDataLoss": "false"}
QUICK = {"fetchOffset.retryIntervalMs": "1"}


@pytest.fixture
def queries(spark: SparkSession, node: Node, checkpoint: str) -> Queries:
    made: Queries = queries_of.Queries(spark, node.bootstrap, checkpoint)
    return made


def test_deleted_records_fail_the_query_until_it_may_go_on(queries: Queries, topics: Topics) -> None:
    topic = topics.make()
    topics.write(topic, ["a", "b"])
    queries.catch_up(topic)
    topics.write(topic, ["c", "d", "e"])
    topics.delete_before(topic, 4)

    with pytest.raises(
        errors.PySparkException, match=f"{topic}-0: offsets 2 to 3 are gone, its log starts at 4"
    ):
        queries.catch_up(topic)
    assert queries.catch_up(topic, **GO_ON) == ["e"]


def test_a_topic_made_anew_fails_the_query_until_it_may_go_on(queries: Queries, topics: Topics) -> None:
    """Its log is longer than what was read of the old one: the offsets alone would tell nothing."""
    topic = topics.make()
    topics.write(topic, ["a", "b"])
    queries.catch_up(topic)
    topics.delete(topic)
    topics.make(name=topic)
    topics.write(topic, ["new", "newer", "newest"])

    with pytest.raises(errors.PySparkException, match=f"{topic}-0: deleted and made anew"):
        queries.catch_up(topic, **QUICK)
    assert queries.catch_up(topic, **GO_ON, **QUICK) == ["new", "newer", "newest"]


def test_a_deleted_topic_fails_the_query_until_it_may_go_on(queries: Queries, topics: Topics) -> None:
    keeping, going = topics.make(), topics.make()
    topics.write(keeping, ["a"])
    topics.write(going, ["b"])
    queries.catch_up(f"{keeping},{going}")
    topics.delete(going)
    topics.write(keeping, ["c"])

    with pytest.raises(errors.PySparkException, match=f"{going}-0: gone"):
        queries.catch_up(f"{keeping},{going}", **QUICK)
    assert queries.catch_up(f"{keeping},{going}", **GO_ON, **QUICK) == ["c"]


def test_a_checkpoint_of_another_topic_is_not_gone_on_with(queries: Queries, topics: Topics) -> None:
    one, other = topics.make(), topics.make()
    topics.write(one, ["a"])
    queries.catch_up(one)

    with pytest.raises(errors.PySparkException, match="needs a checkpointLocation of its own"):
        queries.catch_up(other)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"subscribe": "nowhere"}, "there is no topic 'nowhere' in the cluster"),
        (
            {"kafka.bootstrap.servers": "localhost:1"},
            r"no broker answers at kafka.bootstrap.servers=localhost:1",
        ),
        ({"startingOffsets": '{"TOPIC":{"0":7}}'}, "startingOffsets: 7 for .*-0, and its log ends at 0"),
    ],
)
def test_what_a_query_finds_out_when_it_starts_is_told_in_a_line(
    queries: Queries, topics: Topics, given: dict[str, str], complaint: str
) -> None:
    topic = topics.make()
    told = {name: value.replace("TOPIC", topic) for name, value in given.items()}

    with pytest.raises(errors.StreamingQueryException, match=complaint):
        queries.catch_up(**{"subscribe": topic, **told})


def test_wrong_options_are_refused_before_a_query_starts(queries: Queries) -> None:
    with pytest.raises(errors.AnalysisException, match="failOnDataLoss: 'maybe' is neither true nor false"):
        queries.stream("t", failOnDataLoss="maybe")
    with pytest.raises(errors.AnalysisException, match="subscribe, subscribePattern, assign: exactly one"):
        queries.read("t", assign={"t": [0]})


def test_a_schema_cannot_be_chosen(queries: Queries, topics: Topics) -> None:
    mine = queries.spark.read.format("andiron").schema("value string")
    mine = mine.option("kafka.bootstrap.servers", "localhost:1").option("subscribe", "t")

    with pytest.raises(errors.AnalysisException, match="schema: cannot be chosen"):
        mine.load().count()
