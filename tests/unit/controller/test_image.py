"""The image is what its records say, and tells what they have changed."""

from __future__ import annotations

from contextlib import nullcontext
from typing import get_args

import pytest

from andiron.controller.image import BROKER, LOST, MIGRATING, TOPIC, UNASSIGNED, ControllerImage, Delta, Image
from andiron.controller.records import (
    AbortTransactionRecord,
    AccessControlEntryRecord,
    BeginTransactionRecord,
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ConfigRecord,
    ControllerEndpoint,
    ControllerFeature,
    EndTransactionRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    MetadataRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from andiron.model.errors import ProtocolError
from andiron.model.ids import Offset
from andiron.model.invariant import BrokenInvariant

ID, OTHER = b"i" * 16, b"o" * 16


def replayed(*records: MetadataRecord) -> Image:
    image = Image()
    for offset, record in enumerate(records):
        image.replay(record, Offset(offset))
    return image


def topic(name: str = "t", topic_id: bytes = ID) -> list[MetadataRecord]:
    partition = PartitionRecord(
        0, topic_id, [1, 2], [1, 2], leader=1, leader_epoch=0, partition_epoch=0, directories=[b"a" * 16] * 2
    )
    return [TopicRecord(name, topic_id), partition]


def broker(number: int = 1, **changes) -> RegisterBrokerRecord:
    fields = {"incarnation_id": b"n" * 16, "broker_epoch": 5, "fenced": False, "log_dirs": [b"d" * 16]}
    endpoints = [BrokerEndpoint("PLAINTEXT", "host", 9092), BrokerEndpoint("INSIDE", "in", 9)]
    return RegisterBrokerRecord(number, end_points=endpoints, **{**fields, **changes})


def test_a_topic_is_found_by_name_and_by_id():
    image = replayed(*topic())

    assert image.topics["t"] is image.topics_by_id[ID]
    assert image.topics["t"].partitions[0].replicas == (1, 2)
    assert image.take_delta() == Delta(partitions={(ID, 0): None})


def test_a_change_that_names_a_leader_begins_a_leader_epoch():
    image = replayed(*topic(), PartitionChangeRecord(0, ID, leader=2))

    partition = image.topics["t"].partitions[0]
    assert (partition.leader, partition.leader_epoch, partition.partition_epoch) == (2, 1, 1)
    assert partition.isr == (1, 2)


def test_a_change_without_a_leader_does_not():
    image = replayed(*topic(), PartitionChangeRecord(0, ID, isr=[1], replicas=[1], directories=[b"z" * 16]))

    partition = image.topics["t"].partitions[0]
    assert (partition.leader, partition.leader_epoch, partition.partition_epoch) == (1, 0, 1)
    assert (partition.isr, partition.replicas, partition.directories) == ((1,), (1,), (b"z" * 16,))


def test_a_partition_has_all_that_its_record_says():
    record = PartitionRecord(
        0, ID, [1, 2, 3], [1], [2], [3], leader=1, leader_recovery_state=1, leader_epoch=4, partition_epoch=6,
        directories=[b"a" * 16] * 3, eligible_leader_replicas=[2], last_known_elr=[3],
    )  # fmt: skip
    partition = replayed(TopicRecord("t", ID), record).topics["t"].partitions[0]

    assert (partition.removing, partition.adding, partition.reassigning) == ((2,), (3,), True)
    assert (partition.elr, partition.last_known_elr, partition.recovering) == ((2,), (3,), True)


def test_a_change_leaves_alone_what_it_does_not_name():
    record = PartitionRecord(
        0, ID, [1, 2, 3], [1], [2], [3], leader=1, leader_recovery_state=1, leader_epoch=4, partition_epoch=6,
        directories=[b"a" * 16] * 3, eligible_leader_replicas=[2], last_known_elr=[3],
    )  # fmt: skip
    image = replayed(TopicRecord("t", ID), record)
    before = image.topics["t"].partitions[0]

    image.replay(PartitionChangeRecord(0, ID), Offset(2))
    assert image.topics["t"].partitions[0] == before._replace(partition_epoch=7)

    image.replay(
        PartitionChangeRecord(
            0, ID, removing_replicas=[], adding_replicas=[], leader_recovery_state=0,
            eligible_leader_replicas=[], last_known_elr=[],
        ),
        Offset(3),
    )  # fmt: skip
    assert image.topics["t"].partitions[0][6:] == ((), (), (), (), False)


def test_a_replica_lies_in_its_directory_or_where_its_broker_chooses():
    partition = replayed(*topic()).topics["t"].partitions[0]._replace(directories=(b"a" * 16,))

    assert [partition.directory_of(replica) for replica in (1, 2, 9)] == [b"a" * 16, UNASSIGNED, UNASSIGNED]


def test_a_broker_holds_what_lies_in_directories_that_work_or_is_not_known():
    here = replayed(broker(1)).brokers[1]

    assert [here.holds(each) for each in (b"d" * 16, UNASSIGNED, MIGRATING)] == [True] * 3
    assert [here.holds(each) for each in (b"e" * 16, LOST)] == [False] * 2
    assert here._replace(log_dirs=()).holds(b"e" * 16)


def test_a_broker_has_what_it_registered_with():
    record = broker(1, features=[BrokerFeature("f", 1, 3)])

    found = replayed(record).brokers[1]

    assert (found.features, found.protocols) == ({"f": (1, 3)}, (0, 0))


def test_replicas_in_a_directory_that_has_failed_are_offline():
    image = replayed(broker(1, log_dirs=[b"a" * 16]), broker(2), *topic())

    assert image.offline_replicas(image.topics["t"].partitions[0]) == [2]


def test_images_are_equal_if_they_say_the_same_at_the_same_point():
    assert replayed(*topic()) == replayed(*topic())
    assert replayed(*topic()) != replayed(*topic(), NoOpRecord())
    with pytest.raises(TypeError, match="key to nothing"):
        hash(replayed())


def test_all_partitions_are_walked_topic_by_topic():
    image = replayed(*topic(), *topic("u", OTHER))

    assert [(found.name, number) for found, number, _ in image.partitions()] == [("t", 0), ("u", 0)]


def test_a_partition_once_taken_out_stays_what_it_was():
    image = replayed(*topic())
    before = image.topics["t"].partitions[0]

    image.replay(PartitionChangeRecord(0, ID, leader=2), Offset(2))

    assert before.leader == 1


def test_a_removed_topic_takes_its_settings_along_and_is_told_as_it_was():
    image = replayed(*topic(), ConfigRecord(TOPIC, "t", "retention.ms", "5"))
    image.take_delta()

    image.replay(RemoveTopicRecord(ID), Offset(3))

    assert (image.topics, image.topics_by_id, image.configs) == ({}, {}, {})
    delta = image.take_delta()
    assert [(gone.name, gone.id, list(gone.partitions)) for gone in delta.removed_topics] == [("t", ID, [0])]


def test_a_topic_that_came_and_went_is_among_the_removed_only():
    image = replayed(*topic(), ConfigRecord(TOPIC, "t", "a", "5"), RemoveTopicRecord(ID), *topic("t", OTHER))

    delta = image.take_delta()
    assert list(delta.partitions) == [(OTHER, 0)]
    assert [gone.id for gone in delta.removed_topics] == [ID]
    assert delta.configs == {}


def test_settings_are_set_and_taken_away():
    image = replayed(ConfigRecord(BROKER, "", "a", "1"), ConfigRecord(BROKER, "", "b", "2"))
    assert image.configs_of(BROKER, "") == {"a": "1", "b": "2"}

    image.replay(ConfigRecord(BROKER, "", "a", None), Offset(2))
    image.replay(ConfigRecord(BROKER, "", "b", None), Offset(3))

    assert image.configs == {}
    assert image.configs_of(BROKER, "") == {}
    assert image.take_delta().configs == {(BROKER, ""): None}


def test_a_broker_is_live_unless_it_is_fenced_or_stopping():
    image = replayed(broker(1), broker(2, fenced=True), broker(3, in_controlled_shutdown=True))

    assert [image.is_live(number) for number in (1, 2, 3, 4)] == [True, False, False, False]
    assert list(image.take_delta().brokers) == [1, 2, 3]


def test_a_registration_changes_in_what_the_record_names():
    image = replayed(broker(1, fenced=True), BrokerRegistrationChangeRecord(1, 5, fenced=-1))
    assert image.is_live(1)
    assert image.brokers[1].log_dirs == (b"d" * 16,)

    image.replay(
        BrokerRegistrationChangeRecord(1, 5, in_controlled_shutdown=1, log_dirs=[b"e" * 16]), Offset(2)
    )
    assert (image.brokers[1].fenced, image.brokers[1].stopping) == (False, True)
    assert image.brokers[1].log_dirs == (b"e" * 16,)

    image.replay(BrokerRegistrationChangeRecord(1, 5, fenced=1), Offset(3))
    assert image.brokers[1].fenced


def test_an_unregistered_broker_is_gone():
    image = replayed(broker(1), UnregisterBrokerRecord(1, 5))

    assert image.brokers == {}


def test_a_broker_is_reached_by_the_listener_one_came_by_or_else_by_its_first():
    image = replayed(broker(1), broker(2))
    image.brokers[2] = image.brokers[2]._replace(endpoints={})

    assert image.brokers[1].endpoint("INSIDE") == ("in", 9)
    assert image.brokers[1].endpoint("OTHER") == ("host", 9092)
    assert image.brokers[2].endpoint("OTHER") == ("", -1)


def test_replicas_on_fenced_or_unknown_brokers_are_offline():
    image = replayed(broker(1, fenced=True), *topic())

    assert image.offline_replicas(image.topics["t"].partitions[0]) == [1, 2]


def test_it_knows_which_partitions_there_are():
    image = replayed(*topic())

    there = [image.has_partition(*each) for each in (("t", 0), ("t", 9), ("t", -1), ("u", 0))]

    assert there == [True, False, False, False]


def test_features_and_producer_ids_are_the_last_that_were_said():
    image = replayed(
        FeatureLevelRecord("metadata.version", 29),
        FeatureLevelRecord("metadata.version", 30),
        FeatureLevelRecord("other", 1),
        FeatureLevelRecord("other", 0),
        ProducerIdsRecord(1, 5, 1000),
    )

    assert image.features == {"metadata.version": 30}
    assert image.next_producer_id == 1000


def test_it_knows_where_in_the_log_it_is():
    image = replayed(NoOpRecord())
    image.replay(NoOpRecord(), Offset(41))

    assert image.next_offset == 42


def test_what_is_about_nothing_that_is_there_is_refused_by_name():
    with pytest.raises(ProtocolError, match="PartitionChangeRecord at 0 is about what is not there"):
        replayed(PartitionChangeRecord(0, ID, leader=2))


OF_TRANSACTIONS = (BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord)
OTHERS = [kind for kind in get_args(MetadataRecord) if kind not in OF_TRANSACTIONS]


@pytest.mark.parametrize("kind", OTHERS, ids=lambda kind: kind.__name__)
def test_every_type_of_record_that_kafka_writes_is_replayed(kind: type):
    image, record = replayed(*topic(), broker(0)), kind()
    rising = (("broker_epoch", 9), ("leader_epoch", 9), ("partition_epoch", 9))
    for field, about in (("topic_id", ID), ("partition_id", 0), *rising):
        if hasattr(record, field):
            setattr(record, field, about)

    assert list(image.replay(record, Offset(3))) == [record]


def test_what_nothing_here_acts_upon_is_kept():
    rule = AccessControlEntryRecord(b"x" * 16, 2, "t", 3, "User:a", "*", 3, 3)

    assert list(replayed(rule).unserved) == [rule]
    assert list(replayed(rule, RemoveAccessControlEntryRecord(b"x" * 16)).unserved) == []


def test_brokers_are_fenced_and_let_in_by_the_old_records_too():
    assert replayed(broker(), FenceBrokerRecord(1, 5)).brokers[1].fenced
    assert not replayed(broker(fenced=True), UnfenceBrokerRecord(1, 5)).brokers[1].fenced


def test_directories_that_are_set_aside_are_noted_changed_and_let_be():
    image = replayed(broker(cordoned_log_dirs=[b"c" * 16]))
    assert image.brokers[1].cordoned == (b"c" * 16,)

    image.replay(BrokerRegistrationChangeRecord(1, 5), Offset(1))
    assert image.brokers[1].cordoned == (b"c" * 16,)
    image.replay(BrokerRegistrationChangeRecord(1, 5, cordoned_log_dirs=[]), Offset(2))
    assert image.brokers[1].cordoned == ()


@pytest.mark.parametrize(("named", "cleared"), [("", {"t", "u"}), ("t", {"t"})])
def test_eligible_leaders_are_forgotten_as_kafka_forgets_them(named: str, cleared: set[str]):
    """A partition that had some has a new partition epoch; one that had none is as it was."""
    eligible = PartitionRecord(1, ID, [1, 2], [1], leader=1, leader_epoch=4, partition_epoch=6)
    eligible.eligible_leader_replicas = [2]
    other = PartitionRecord(
        0, OTHER, [1, 2], [], leader=-1, leader_epoch=4, partition_epoch=6, last_known_elr=[1]
    )
    image = replayed(*topic(), eligible, TopicRecord("u", OTHER), other)
    image.take_delta()

    image.replay(ClearElrRecord(named), Offset(5))

    places = {"t": image.topics["t"].partitions[1], "u": image.topics["u"].partitions[0]}
    for name, partition in places.items():
        is_cleared = name in cleared
        assert bool(partition.elr or partition.last_known_elr) is not is_cleared
        assert (partition.partition_epoch, partition.leader_epoch) == (6 + is_cleared, 4)
    assert image.topics["t"].partitions[0].partition_epoch == 0
    assert len(image.take_delta().partitions) == len(cleared)


# ── transactions ─────────────────────────────────────────────────────────────────────


def test_what_stands_in_a_transaction_is_not_seen_before_its_end():
    image = replayed(BeginTransactionRecord("topics"), *topic())
    assert image.topics == {}
    assert image.take_delta() == Delta()

    counted = image.replay(EndTransactionRecord(), Offset(3))

    assert list(counted) == topic()
    assert image.take_delta() == Delta(partitions={(ID, 0): None})


def test_what_was_aborted_is_never_seen():
    image = replayed(BeginTransactionRecord(), *topic(), AbortTransactionRecord("no"), *topic("u", OTHER))

    assert list(image.topics) == ["u"]
    assert image.next_offset == 6


def test_an_image_that_nobody_follows_notes_nothing():
    image = Image(noting=False)
    for offset, record in enumerate(
        [*topic(), broker(), ConfigRecord(TOPIC, "t", "a", "1"), RemoveTopicRecord(ID)]
    ):
        image.replay(record, Offset(offset))

    with pytest.raises(AssertionError):
        image.take_delta()


def test_leaders_that_were_not_in_sync_are_counted():
    unclean = PartitionChangeRecord(0, ID, leader=2, isr=[2], leader_recovery_state=1)
    recovered = PartitionChangeRecord(0, ID, leader_recovery_state=0)
    clean = PartitionChangeRecord(0, ID, leader=1)

    assert replayed(*topic(), unclean, recovered, clean).unclean_elections == 1


def test_a_controller_has_what_its_record_says_and_is_found_by_listener():
    record = RegisterControllerRecord(
        3,
        b"i" * 16,
        end_points=[ControllerEndpoint("CONTROLLER", "host", 9093, 0)],
        features=[ControllerFeature("group.version", 0, 1)],
    )
    controller = ControllerImage.of(record)

    assert (controller.id, controller.incarnation) == (3, b"i" * 16)
    assert controller.features == (("group.version", 0, 1),)
    assert controller.endpoint("CONTROLLER") == ("host", 9093)
    assert controller.endpoint("OTHER") is None


# ── invariants ───────────────────────────────────────────────────────────────────────


def test_the_metadata_offset_never_goes_back():
    image = Image()
    image.replay(NoOpRecord(), Offset(5))
    image.replay(NoOpRecord(), Offset(5))  # the records of a snapshot stand at one offset

    with pytest.raises(BrokenInvariant, match="the metadata offset never goes back: 4, 6"):
        image.replay(NoOpRecord(), Offset(4))


@pytest.mark.parametrize(
    ("epochs", "law"), [((4, 9), "a leader epoch"), ((5, 8), "a partition epoch"), ((5, 9), "")]
)
def test_epochs_of_a_partition_never_go_back(epochs, law):
    image = Image()
    image.replay(TopicRecord("t", b"t" * 16), Offset(0))
    image.replay(PartitionRecord(0, b"t" * 16, leader_epoch=5, partition_epoch=9), Offset(1))
    leader_epoch, partition_epoch = epochs
    earlier = PartitionRecord(0, b"t" * 16, leader_epoch=leader_epoch, partition_epoch=partition_epoch)

    with pytest.raises(BrokenInvariant, match=f"{law} never goes back") if law else nullcontext():
        image.replay(earlier, Offset(2))


def test_a_broker_epoch_never_goes_back():
    image = Image()
    image.replay(RegisterBrokerRecord(1, incarnation_id=b"a" * 16, broker_epoch=7), Offset(7))

    with pytest.raises(BrokenInvariant, match="a broker epoch never goes back"):
        image.replay(RegisterBrokerRecord(1, incarnation_id=b"b" * 16, broker_epoch=6), Offset(8))
