from typing import Any

import pytest

from andiron.wire.codec import (
    SLICE,
    decode_message,
    decoder,
    encode_message,
    encoder,
    slicing_decoder,
    slicing_encoder,
)
from andiron.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from andiron.wire.messages.describe_cluster import DescribeClusterResponse
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.metadata import MetadataBroker, MetadataRequest, MetadataResponse, MetadataTopic
from andiron.wire.messages.produce import ProduceResponse
from andiron.wire.primitives import MalformedMessage, UnencodableMessage

NOTHING: Any = None


def test_a_message_comes_back_as_it_went() -> None:
    response = MetadataResponse(
        5, [MetadataBroker(1, "größe", 9092)], "cluster", 1, [MetadataTopic(name="t")]
    )

    for version in range(5, 14):
        assert decode_message(MetadataResponse, version, encode_message(response, version)) == response


def test_what_a_version_lacks_comes_back_as_its_default() -> None:
    response = MetadataResponse(5, [MetadataBroker(1, "host", 9092, "rack")], "cluster", 1)

    assert decode_message(MetadataResponse, 0, encode_message(response, 0)) == MetadataResponse(
        brokers=[MetadataBroker(1, "host", 9092)]
    )


def test_codecs_are_made_once_and_show_their_source() -> None:
    assert decoder(MetadataRequest, 9) is decoder(MetadataRequest, 9)
    assert encoder(MetadataRequest, 9) is encoder(MetadataRequest, 9)
    assert "def decode(buf, pos, end):" in decoder(MetadataRequest, 9).source
    assert "def encode(m, parts):" in encoder(MetadataRequest, 9).source


@pytest.mark.parametrize("version", [-1, 2, 14])
def test_a_version_that_is_not_declared_has_no_codec(version: int) -> None:
    with pytest.raises(ValueError, match=f"ProduceResponse has versions 3 to 13, not {version}"):
        decoder(ProduceResponse, version)
    with pytest.raises(ValueError, match="versions 3 to 13"):
        encoder(ProduceResponse, version)


def test_a_struct_alone_has_no_codec() -> None:
    with pytest.raises(TypeError, match="MetadataBroker is not declared as a message"):
        decoder(MetadataBroker, 0)


def test_null_is_written_only_from_the_version_that_allows_it() -> None:
    encode_message(MetadataRequest(topics=None), 1)

    with pytest.raises(UnencodableMessage, match=r"MetadataRequest\.topics is null.*in v0"):
        encode_message(MetadataRequest(topics=None), 0)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (MetadataResponse(brokers=[MetadataBroker(host=NOTHING)]), r"brokers\[0\]\.host is null"),
        (MetadataResponse(brokers=[MetadataBroker(node_id=NOTHING)]), r"brokers\[0\]\.node_id is null"),
        (MetadataResponse(brokers=[MetadataBroker(port=1 << 31)]), r"brokers\[0\]\.port is 2147483648"),
        (MetadataResponse(brokers=[NOTHING]), r"brokers\[0\] is None, not a MetadataBroker"),
        (MetadataResponse(topics=[MetadataTopic(name=b"t")]), r"topics\[0\]\.name is b't', not a string"),
        (MetadataResponse(topics=[MetadataTopic(is_internal=NOTHING)]), r"topics\[0\]\.is_internal is null"),
        (MetadataResponse(topics=[MetadataTopic(topic_id=NOTHING)]), r"topics\[0\]\.topic_id is null"),
        (MetadataResponse(topics=NOTHING), r"MetadataResponse\.topics is null"),
        (MetadataResponse(cluster_id="\ud800"), r"surrogates not allowed"),
    ],
)
def test_what_cannot_be_written_is_named(message: MetadataResponse, told: str) -> None:
    with pytest.raises(UnencodableMessage, match=told):
        encode_message(message, 12)


def test_a_legacy_string_has_at_most_32767_bytes() -> None:
    long = CreateTopicsRequest([CreatableTopic("x" * 32768)])

    encode_message(long, 5)
    with pytest.raises(UnencodableMessage):
        encode_message(long, 4)


def test_an_api_that_was_always_flexible() -> None:
    response = DescribeClusterResponse(cluster_id="c", controller_id=1)

    assert encode_message(response, 0) == b"\0\0\0\0\0\0\0\2c\0\0\0\1\1\x80\0\0\0\0"


def in_the_end(work: Any) -> tuple[Any, int]:
    """What a generator returns, and after how many slices."""
    slices = 0
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value, slices + 1
        slices += 1


@pytest.mark.parametrize("version", [0, 12])
def test_a_large_message_is_read_and_written_in_slices(version: int) -> None:
    topics = [MetadataTopic(0, f"t{number}") for number in range(3 * SLICE)]
    message = MetadataResponse(topics=topics)
    data, parts = encode_message(message, version), []

    assert in_the_end(slicing_encoder(MetadataResponse, version)(message, parts)) == (None, 4)
    assert b"".join(parts) == data
    read, slices = in_the_end(slicing_decoder(MetadataResponse, version, 1 << 20)(data, 0, len(data)))
    assert read == decoder(MetadataResponse, version)(data, 0, len(data))
    assert slices == 4


def test_a_message_without_an_array_is_one_slice() -> None:
    data = encode_message(HeartbeatRequest("g", 1, "m"), 0)

    read, slices = in_the_end(slicing_decoder(HeartbeatRequest, 0, 10)(data, 0, len(data)))

    assert (read[0].member_id, slices) == ("m", 1)


def test_all_arrays_together_have_so_many_entries_and_no_more() -> None:
    def asked(configs: int) -> bytes:
        topic = CreatableTopic("a", 1, 1, configs=[CreatableTopicConfig("n", "v")] * configs)
        return encode_message(CreateTopicsRequest([topic, topic]), 7)

    read = decoder(CreateTopicsRequest, 7, 10)

    assert len(read(asked(4), 0, len(asked(4)))[0].topics[1].configs) == 4
    with pytest.raises(MalformedMessage, match="more than 10 entries"):
        read(asked(5), 0, len(asked(5)))
