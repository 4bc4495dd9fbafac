from andiron.model.errors import ErrorCode
from andiron.sim.catalog import Catalog, TopicState, changes, codes
from andiron.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from andiron.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from andiron.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

SMALL = TopicState(1, 2, (("retention.ms", "5"),))


def creation(number=1):
    topic = CreatableTopic("t", 2, 1, [], [CreatableTopicConfig("retention.ms", "5")])
    return changes(CreateTopicsRequest([topic]), number)[0]


def deletion():
    return changes(DeleteTopicsRequest([DeleteTopicState("t")]), 9)[0]


def test_until_a_change_is_answered_for_both_are_possible():
    catalog = Catalog()
    asked = catalog.heard(*creation())
    assert catalog.possible("t") == [None, SMALL]
    catalog.said(asked, ErrorCode.NONE)
    assert catalog.possible("t") == [SMALL]


def test_a_refusal_leaves_things_as_they_were_and_a_timeout_leaves_them_open():
    catalog = Catalog()
    catalog.said(catalog.heard(*creation()), ErrorCode.INVALID_CONFIG)
    assert catalog.possible("t") == [None]
    catalog.said(catalog.heard(*creation()), ErrorCode.REQUEST_TIMED_OUT)
    assert catalog.possible("t") == [None, SMALL]


def test_what_was_in_effect_does_not_go_back():
    catalog = Catalog()
    catalog.heard(*creation())
    catalog.shown("t", SMALL)
    assert catalog.possible("t") == [SMALL]


def test_an_answer_that_another_change_has_overtaken_decides_nothing():
    catalog = Catalog()
    first = catalog.heard(*creation())
    catalog.heard(*deletion())
    catalog.said(first, ErrorCode.NONE)
    assert catalog.possible("t") == [None, SMALL]


def test_a_topic_made_again_is_another():
    catalog = Catalog()
    catalog.said(catalog.heard(*creation(1)), ErrorCode.NONE)
    catalog.said(catalog.heard(*deletion()), ErrorCode.NONE)
    catalog.said(catalog.heard(*creation(5)), ErrorCode.NONE)
    assert catalog.possible("t") == [SMALL._replace(incarnation=5)]
    assert catalog.name("t", b"new") == 5
    assert catalog.name("t", b"newer") is None
    assert catalog.incarnation_of("t", b"new") == 5
    assert catalog.incarnation_of("t", b"old") is None


def test_partitions_and_settings_change_what_is_there():
    grow = changes(CreatePartitionsRequest([CreatePartitionsTopic("t", 4, None)]), 1)[0][1]
    assert grow(SMALL) == SMALL._replace(partitions=4)
    assert grow(None) is None
    alterations = [AlterableConfig("retention.ms", 1, None), AlterableConfig("segment.ms", 0, "7")]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(2, "t", alterations)])
    alter = changes(request, 1)[0][1]
    assert alter(SMALL) == SMALL._replace(configs=(("segment.ms", "7"),))


def test_outcomes_are_read_off_the_response():
    response = CreateTopicsResponse(topics=[CreatableTopicResult("t", error_code=36)])
    assert codes(response) == [ErrorCode.TOPIC_ALREADY_EXISTS]
