"""The options of a read: what they may be, and what is said of those that may not be."""

import pickle

import pytest

from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.model.ids import TopicPartition
from andiron.model.settings import SettingError
from andiron.spark.source.offsets import AtOffsets, AtTime, AtTimes, Everywhere
from andiron.spark.source.options import TopicChoice, include_headers, parse_options
from andiron.spark.source.plan import Limits

A0 = TopicPartition("a", 0)
LEAST = {"kafka.bootstrap.servers": "localhost:9092", "subscribe": "a"}


def stream(**given: str):
    return parse_options(LEAST | given, streaming=True)


def batch(**given: str):
    return parse_options(LEAST | given, streaming=False)


def test_the_defaults_are_those_of_sparks_own_source():
    options = stream()

    assert options.which == TopicChoice(topics=("a",))
    assert options.starting == Everywhere(LATEST)
    assert batch().starting == Everywhere(EARLIEST)
    assert batch().ending == Everywhere(LATEST)
    assert options.fail_on_data_loss and not options.include_headers and not options.kafka.committed
    assert options.limits == Limits(max_delay_ms=15 * 60_000)
    assert (options.min_partitions, options.max_records_per_partition, options.group) == (None, None, None)
    assert (options.offset_attempts, options.offset_interval_ms) == (3, 1000)
    assert options.poll_timeout_ms == 120_000
    assert options.warnings == ()


def test_names_count_in_any_case():
    options = stream(STARTINGOFFSETS="earliest", failondataloss="FALSE", includeHeaders="true")

    assert options.starting == Everywhere(EARLIEST)
    assert not options.fail_on_data_loss and options.include_headers
    assert include_headers({"INCLUDEHEADERS": "true"})


def test_options_travel_to_the_tasks():
    assert pickle.loads(pickle.dumps(stream())) == stream()


@pytest.mark.parametrize(
    ("given", "which", "text"),
    [
        ({"subscribe": " a, b ,a,"}, TopicChoice(topics=("a", "b")), "subscribe=a,b"),
        ({"subscribePattern": "a.*"}, TopicChoice(pattern="a.*"), "subscribePattern=a.*"),
        ({"assign": '{"a":[0]}'}, TopicChoice(partitions=(A0,)), "assign=a-0"),
    ],
)
def test_one_option_says_what_is_read(given, which, text):
    options = parse_options({"kafka.bootstrap.servers": "localhost", **given}, streaming=True)

    assert options.which == which
    assert str(options.which) == text
    assert which.includes(A0) and not which.includes(TopicPartition("c", 0))


def test_a_pattern_is_for_whole_names():
    assert not TopicChoice(pattern="a").includes(TopicPartition("aa", 0))


def test_a_time_wins_over_times_and_times_win_over_offsets():
    times = '{"a":{"0":5}}'

    assert stream(startingOffsets="earliest", startingOffsetsByTimestamp=times).starting == AtTimes({A0: 5})
    assert stream(startingOffsetsByTimestamp=times, startingTimestamp="7").starting == AtTime(7)
    assert batch(endingTimestamp="9").ending == AtTime(9)
    assert stream(startingTimestamp="7", startingOffsetsByTimestampStrategy="LATEST").late_start_is_latest


def test_limits_are_numbers_and_time_spans():
    options = stream(
        maxOffsetsPerTrigger="100",
        minOffsetsPerTrigger="10",
        maxBytesPerTrigger="5000",
        maxTriggerDelay="90s",
    )

    assert options.limits == Limits(100, 5000, 10, 90_000)
    assert stream(maxTriggerDelay="250").limits.max_delay_ms == 250
    assert stream(maxTriggerDelay="2 h").limits.max_delay_ms == 7_200_000
    assert stream(**{"group.id": " report "}).group == "report"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (
            {"subscribePattern": "b"},
            "subscribe, subscribePattern, assign: exactly one .* subscribe and subscribePattern",
        ),
        ({"subscribe": " , "}, "subscribe: ' , ?' ?names no topic|subscribe: ',' names no topic"),
        ({"startingOffsets": "soon"}, "startingOffsets: 'soon' is not understood"),
        ({"startingTimestamp": "soon"}, "startingTimestamp: "),
        ({"startingOffsetsByTimestampStrategy": "guess"}, "neither error nor latest"),
        ({"failOnDataLoss": "maybe"}, "failOnDataLoss: 'maybe' is neither true nor false"),
        ({"includeHeaders": "1"}, "includeHeaders"),
        ({"minPartitions": "0"}, "minPartitions: '0' is not a whole number of at least 1"),
        ({"minPartitions": "99999999999"}, "minPartitions"),
        ({"maxRecordsPerPartition": "-1"}, "maxRecordsPerPartition"),
        ({"maxOffsetsPerTrigger": "many"}, "maxOffsetsPerTrigger"),
        ({"maxTriggerDelay": "1 fortnight"}, "maxTriggerDelay: .* expected e.g. 15m"),
        (
            {"maxOffsetsPerTrigger": "5", "minOffsetsPerTrigger": "6"},
            "6 is more than maxOffsetsPerTrigger, which is 5",
        ),
        ({"endingOffsets": "latest"}, "endingOffsets: a stream has no end"),
        ({"endingTimestamp": "5"}, "endingTimestamp: a stream has no end"),
    ],
)
def test_what_cannot_be_is_refused_by_name(given, complaint):
    with pytest.raises(SettingError, match=complaint):
        stream(**given)


def test_something_must_be_read():
    with pytest.raises(SettingError, match=r"exactly one .* none is given"):
        parse_options({"kafka.bootstrap.servers": "localhost"}, streaming=True)


@pytest.mark.parametrize("text", ["", "a(", r"\p{Nonsense}+"])
def test_a_pattern_that_is_none_is_refused(text):
    with pytest.raises(SettingError, match="subscribePattern: "):
        parse_options({"kafka.bootstrap.servers": "localhost", "subscribePattern": text}, streaming=True)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"startingOffsets": "latest"}, "cannot start at latest"),
        ({"startingOffsets": '{"a":{"0":-1}}'}, "cannot start at latest"),
        ({"endingOffsets": "earliest"}, "cannot end at earliest"),
        ({"endingOffsets": '{"a":{"0":-2}}'}, "cannot end at earliest"),
        ({"startingOffsets": '{"a":{"0":5}}', "endingOffsets": '{"a":{"0":4}}'}, "a-0 would end at 4"),
        ({"startingOffsets": '{"a":{"0":5}}', "endingOffsets": '{"a":{"1":9}}'}, "only one names a-0"),
        (
            {"startingOffsetsByTimestamp": '{"a":{"0":5}}', "endingOffsetsByTimestamp": '{"a":{"0":4}}'},
            "a-0 would end at 4",
        ),
    ],
)
def test_a_batch_has_two_ends_in_order(given, complaint):
    with pytest.raises(SettingError, match=complaint):
        batch(**given)


def test_a_batch_may_end_where_it_likes():
    assert batch(startingOffsets='{"a":{"0":5}}', endingOffsets='{"a":{"0":-1}}').ending == AtOffsets(
        {A0: -1}
    )


def test_a_slip_of_the_pen_is_told():
    (told,) = stream(failOnDataLos="false").warnings

    assert told == "option 'failondatalos' is not known here and has no effect; is failOnDataLoss meant?"
    assert stream(checkpointLocation="/tmp/x", path="y", queryName="z").warnings == ()


def test_what_counts_for_streams_alone_is_told_in_a_batch():
    assert batch(maxOffsetsPerTrigger="5").warnings == ("maxOffsetsPerTrigger has no effect on a batch read",)
