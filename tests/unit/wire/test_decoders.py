import pytest

from andiron.wire.codec import decode_message, decoder
from andiron.wire.decoders import has_records
from andiron.wire.messages.fetch import FetchResponse
from andiron.wire.messages.metadata import MetadataRequest
from andiron.wire.primitives import MalformedMessage
from andiron.wire.schema import array, data, i32, i64, message, nested, records, string, struct


@struct
class Inner:
    number: int = i32()


@message(api_key=1, versions=(0, 1), flexible=1)
class Sample:
    name: str = string()
    note: str | None = string(nullable=True)
    numbers: list[int] = array(i32())
    inners: list[Inner] | None = array(Inner, nullable=True)
    blob: bytes = data()
    inner: Inner | None = nested(Inner, nullable=True, default=None)
    big: int = i64(since=1, tag=2, default=-1)


@message(api_key=2, versions=(0, 1), flexible=1)
class Carrier:
    topic: str = string()
    batches: memoryview | None = records(nullable=True)


LEGACY = (
    b"\0\2ab"
    + b"\xff\xff"
    + b"\0\0\0\2\0\0\0\1\0\0\0\2"
    + b"\xff\xff\xff\xff"
    + b"\0\0\0\3xyz"
    + b"\1\0\0\0\7"
)
FLEXIBLE = b"\3ab" + b"\0" + b"\3\0\0\0\1\0\0\0\2" + b"\2\0\0\0\5\0" + b"\4xyz" + b"\xff"
TAGGED = b"\2\2\x08\0\0\0\0\0\0\0\x09\x63\3odd"


def test_legacy_lengths_are_fixed_and_minus_one_is_null() -> None:
    assert decode_message(Sample, 0, LEGACY) == Sample("ab", None, [1, 2], None, b"xyz", Inner(7))


def test_compact_lengths_are_one_too_high_and_zero_is_null() -> None:
    assert decode_message(Sample, 1, FLEXIBLE + b"\0") == Sample("ab", None, [1, 2], [Inner(5)], b"xyz", None)


def test_known_tags_are_read_and_unknown_ones_skipped() -> None:
    assert decode_message(Sample, 1, FLEXIBLE + TAGGED).big == 9


def test_a_tagged_field_must_fill_its_size() -> None:
    with pytest.raises(MalformedMessage, match="does not fill its size"):
        decode_message(Sample, 1, FLEXIBLE + b"\1\2\x09\0\0\0\0\0\0\0\x09\0")


def test_a_decoder_says_where_it_stopped_and_minds_nothing_behind() -> None:
    within = memoryview(b"??" + LEGACY + b"and more")

    message, pos = decoder(Sample, 0)(within, 2, len(within))

    assert message.name == "ab"
    assert pos == 2 + len(LEGACY)


def test_bytes_behind_the_end_are_not_read_as_the_message() -> None:
    with pytest.raises(MalformedMessage):
        decoder(Sample, 0)(memoryview(LEGACY), 0, len(LEGACY) - 1)
    with pytest.raises(MalformedMessage):
        decoder(Sample, 0)(LEGACY, 0, len(LEGACY) - 1)


def test_records_are_a_view_of_the_frame() -> None:
    frame = bytearray(b"\2t\6batch\0")

    carrier = decode_message(Carrier, 1, memoryview(frame))
    frame[3:8] = b"BATCH"

    assert carrier.topic == "t"
    assert isinstance(carrier.batches, memoryview)
    assert carrier.batches == b"BATCH"


def test_records_in_bytes_are_a_view_too_and_may_be_null() -> None:
    assert decode_message(Carrier, 0, b"\0\1t\0\0\0\2ab").batches == memoryview(b"ab")
    assert decode_message(Carrier, 0, b"\0\1t\xff\xff\xff\xff").batches is None


def test_data_is_copied_out_of_the_frame() -> None:
    frame = bytearray(LEGACY)

    sample = decode_message(Sample, 0, memoryview(frame))
    frame[:] = bytes(len(frame))

    assert sample.blob == b"xyz"
    assert type(sample.blob) is bytes


@pytest.mark.parametrize(
    ("version", "body"),
    [
        pytest.param(0, b"\xff\xff", id="null in a legacy string"),
        pytest.param(1, b"\0", id="null in a compact string"),
        pytest.param(0, b"\x7f\xff" + b"a" * 100, id="a string longer than the frame"),
        pytest.param(1, b"\xff\xff\xff\xff\xff\x0f" + b"a" * 100, id="a string of absurd length"),
        pytest.param(0, b"\0\1\xff", id="not UTF-8"),
        pytest.param(1, b"\4\xed\xa0\x80", id="a surrogate in UTF-8"),
        pytest.param(0, b"\0\0\xff\xff\xff\xff\xff\xff", id="null in an array"),
        pytest.param(0, b"\0\0\xff\xff\x7f\xff\xff\xff" + bytes(100), id="more numbers than bytes"),
        pytest.param(1, b"\1\0\xff\xff\xff\xff\x07" + bytes(100), id="a compact count beyond the frame"),
        pytest.param(0, b"", id="nothing"),
    ],
)
def test_absurd_lengths_are_malformed(version: int, body: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode_message(Sample, version, body)


def test_a_count_is_held_against_the_least_its_elements_take() -> None:
    head = b"\0\0\xff\xff\0\0\0\0"  # an empty name, no note, no numbers
    body = head + b"\0\0\0\6" + bytes(20)  # six inners take 24 bytes, twenty are left

    with pytest.raises(MalformedMessage, match="inners has more elements than bytes are left"):
        decode_message(Sample, 0, body)


@pytest.mark.parametrize(
    ("version", "body"), [(9, bytes.fromhex("0000000001000000")), (12, bytes.fromhex("00000000010000"))]
)
def test_what_librdkafka_leaves_behind_its_request_for_all_topics_is_tolerated(
    version: int, body: bytes
) -> None:
    """It keeps four bytes for the count and fills one; all behind it is read three bytes early."""
    request, pos = decoder(MetadataRequest, version)(body, 0, len(body))

    assert request.topics is None
    assert request.allow_auto_topic_creation is False
    assert len(body) - pos == (1 if version < 11 else 3)


def test_records_are_found_however_deep() -> None:
    assert has_records(FetchResponse, 12)
    assert not has_records(MetadataRequest, 9)
