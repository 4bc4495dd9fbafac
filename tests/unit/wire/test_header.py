import pytest

from andiron.wire.apis import ApiKey
from andiron.wire.header import (
    decode_request_header,
    decode_response_header,
    encode_request_header,
    encode_response_header,
)
from andiron.wire.primitives import MalformedMessage, UnencodableMessage

LEGACY = b"\0\0\0\7\0\0\0\x2a\0\2me"  # Produce v7
FLEXIBLE = b"\0\0\0\x09\0\0\0\x2a\0\2me\0"  # Produce v9: the client id in its old form, then tags


def test_a_request_header_without_tags() -> None:
    assert encode_request_header(ApiKey.PRODUCE, 7, 42, "me") == LEGACY
    assert decode_request_header(LEGACY + b"body", 0, 16) == (0, 7, 42, "me", 12)


def test_a_flexible_request_header_keeps_the_old_form_of_the_client_id() -> None:
    assert encode_request_header(ApiKey.PRODUCE, 9, 42, "me") == FLEXIBLE
    assert decode_request_header(memoryview(b"..." + FLEXIBLE), 3, 16) == (0, 9, 42, "me", 16)


def test_the_client_id_may_be_null() -> None:
    header = encode_request_header(ApiKey.FETCH, 4, 1, None)

    assert header[8:] == b"\xff\xff"
    assert decode_request_header(header, 0, len(header)) == (1, 4, 1, None, 10)


def test_tags_in_a_request_header_are_skipped() -> None:
    tagged = FLEXIBLE[:-1] + b"\1\0\3abc"

    assert decode_request_header(tagged, 0, len(tagged)) == (0, 9, 42, "me", len(tagged))


def test_a_future_version_of_apiversions_is_read_as_flexible() -> None:
    header = encode_request_header(ApiKey.API_VERSIONS, 99, 1, "c")

    assert decode_request_header(header, 0, len(header)) == (18, 99, 1, "c", len(header))


def test_an_unknown_api_is_read_as_far_as_its_client_id() -> None:
    header = b"\x03\xe7\0\x63\0\0\0\1\0\1c"

    assert decode_request_header(header, 0, len(header)) == (999, 99, 1, "c", 11)


@pytest.mark.parametrize(
    "header",
    [b"", LEGACY[:9], LEGACY[:-1], FLEXIBLE[:-1], LEGACY[:8] + b"\x7f\xff", LEGACY[:10] + b"\xff\xff"],
)
def test_a_broken_request_header_is_malformed(header: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode_request_header(header, 0, len(header))


def test_a_header_that_ends_behind_its_frame_is_malformed() -> None:
    with pytest.raises(MalformedMessage, match="cut short"):
        decode_request_header(FLEXIBLE, 0, len(FLEXIBLE) - 1)


def test_a_client_id_too_long_for_its_length_is_refused() -> None:
    with pytest.raises(UnencodableMessage, match="client_id of 32768 bytes"):
        encode_request_header(ApiKey.FETCH, 4, 1, "x" * 32768)


def test_a_response_header_has_tags_from_the_flexible_version_on() -> None:
    assert encode_response_header(ApiKey.PRODUCE, 8, 42) == b"\0\0\0\x2a"
    assert encode_response_header(ApiKey.PRODUCE, 9, 42) == b"\0\0\0\x2a\0"
    assert decode_response_header(b"\0\0\0\x2a", 0, 4, ApiKey.PRODUCE, 8) == (42, 4)
    assert decode_response_header(b"\0\0\0\x2a\1\5\0", 0, 7, ApiKey.PRODUCE, 9) == (42, 7)


def test_the_response_to_apiversions_never_has_tags() -> None:
    for version in (0, 3, 4, 99):
        assert encode_response_header(ApiKey.API_VERSIONS, version, 42) == b"\0\0\0\x2a"
        assert decode_response_header(b"\0\0\0\x2a\0", 0, 5, ApiKey.API_VERSIONS, version) == (42, 4)


def test_saslhandshake_and_offsetdelete_are_never_flexible() -> None:
    for key in (ApiKey.SASL_HANDSHAKE, ApiKey.OFFSET_DELETE):
        assert len(encode_response_header(key, 1, 42)) == 4


@pytest.mark.parametrize("header", [b"", b"\0\0\0", b"\0\0\0\x2a"])
def test_a_broken_response_header_is_malformed(header: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode_response_header(header, 0, len(header), ApiKey.PRODUCE, 9)
    with pytest.raises(MalformedMessage, match="cut short"):
        decode_response_header(b"\0\0\0\x2a\0", 0, 4, ApiKey.PRODUCE, 9)
