"""What is made of a topic on the target, and what is refused before anything is changed."""

from __future__ import annotations

from andiron.client.core.descriptions import Config
from andiron.client.core.metadata import Partition, Topic
from andiron.copying.plan import KnownTopic, TopicFacts, deletes, plan_topic
from andiron.model.layers import Source

ID, OTHER = b"1" * 16, b"2" * 16


def config(name: str, value: str, source: int = Source.TOPIC) -> Config:
    return Config(name, value, source, False, False, 0, None, [])


def facts(
    *configs: Config, partitions: int = 2, replicas: int = 1, records: int = 0, topic_id: bytes = ID
) -> TopicFacts:
    rows = [Partition(at, 1, 0, list(range(replicas)), [], []) for at in range(partitions)]
    ends = dict.fromkeys(range(partitions), records)
    return TopicFacts(
        Topic("t", topic_id, False, rows), {each.name: each for each in configs}, dict.fromkeys(ends, 0), ends
    )


def known(topic_id: bytes = ID) -> KnownTopic:
    return KnownTopic(facts(topic_id=topic_id).topic.id_text)


def test_a_topic_is_made_with_its_partitions_and_its_own_settings() -> None:
    source = facts(
        config("retention.ms", "1000"), config("segment.bytes", "9", Source.DEFAULT), partitions=3, replicas=2
    )

    plan = plan_topic(source, None, KnownTopic(), brokers=3)

    assert plan.create and not plan.refusal
    assert (plan.partitions, plan.replication_factor, plan.configs) == (3, 2, {"retention.ms": "1000"})


def test_what_brokers_say_about_keeping_goes_with_it() -> None:
    source = facts(config("retention.ms", "5", Source.STATIC), config("segment.ms", "6", Source.STATIC))

    assert plan_topic(source, None, KnownTopic(), 1).configs == {"retention.ms": "5"}


def test_what_would_be_wrong_there_is_left_out_and_told() -> None:
    source = facts(
        config("message.timestamp.type", "LogAppendTime"),
        config("message.timestamp.before.max.ms", "1"),
        config("min.insync.replicas", "2"),
        config("remote.storage.enable", "true"),
        config("redpanda.remote.read", "false"),
        config("cleanup.policy", "compact"),
        replicas=3,
    )

    plan = plan_topic(source, None, KnownTopic(), 1, frozenset({"cleanup.policy", "min.insync.replicas"}))

    assert plan.configs == {"cleanup.policy": "compact"}
    assert [note.split(":")[0] for note in plan.notes] == [
        "replicas",
        "without message.timestamp.before.max.ms=1",
        "without message.timestamp.type=LogAppendTime",
        "without min.insync.replicas=2",
        "without redpanda.remote.read=false",
        "without remote.storage.enable=true",
    ]


def test_records_of_others_on_the_target_are_not_written_to() -> None:
    plan = plan_topic(facts(), facts(records=3), KnownTopic(), 1)

    assert "no copy from this source has written" in plan.refusal
    assert not plan_topic(facts(), facts(), KnownTopic(), 1).refusal
    assert not plan_topic(facts(), facts(records=3), known(), 1).refusal


def test_too_few_partitions_are_refused_unless_they_are_the_copys_own() -> None:
    assert "--partitions 2" in plan_topic(facts(), facts(partitions=1), KnownTopic(), 1).refusal
    grown = plan_topic(facts(), facts(partitions=1), known(), 1)
    assert grown.grow and not grown.refusal
    assert "keys will go elsewhere" in plan_topic(facts(), facts(partitions=4), KnownTopic(), 1).notes[0]


def test_a_topic_made_anew_on_the_source_is_another_one() -> None:
    assert "made anew" in plan_topic(facts(topic_id=OTHER), facts(records=3), known(), 1).refusal


def test_a_target_that_gives_every_record_a_new_time_is_refused() -> None:
    target = facts(config("message.timestamp.type", "LogAppendTime"))

    assert "CreateTime" in plan_topic(facts(), target, KnownTopic(), 1).refusal


def test_other_settings_of_a_topic_that_was_there_are_told() -> None:
    plan = plan_topic(facts(config("retention.ms", "1")), facts(config("retention.ms", "2")), KnownTopic(), 1)

    assert plan.notes == ["was there, with other settings: retention.ms"]


def test_records_can_be_deleted_unless_they_are_only_compacted() -> None:
    assert deletes({})
    assert deletes({"cleanup.policy": config("cleanup.policy", "compact,delete")})
    assert not deletes({"cleanup.policy": config("cleanup.policy", "compact")})
