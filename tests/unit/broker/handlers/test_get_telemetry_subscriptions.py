"""What a client is answered that asks for its subscriptions; broker/test_client_telemetry.py has the rest."""

from andiron.records.compression import GZIP, LZ4, SNAPPY, ZSTD
from andiron.wire.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from worlds.node import error_of


def test_a_client_is_given_an_id_and_told_what_may_be_pushed(node):
    answer = node.ask(GetTelemetrySubscriptionsRequest())

    assert error_of(answer) == "NONE"
    assert answer.client_instance_id != bytes(16)
    assert answer.accepted_compression_types == [ZSTD, LZ4, GZIP, SNAPPY]
    assert answer.telemetry_max_bytes == 1 << 20


def test_a_client_keeps_its_id(node):
    answer = node.ask(GetTelemetrySubscriptionsRequest(b"i" * 16))

    assert answer.client_instance_id == b"i" * 16
