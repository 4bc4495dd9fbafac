"""Subscriptions to clients' metrics: what they may say, and whom they mean."""

import pytest

from andiron.broker.telemetry.client_metrics import CLIENT_METRICS_ROWS, means, subscription
from andiron.model.settings import SettingError

CLIENT = {
    "client_instance_id": "BUFtlJOGgARZ6V-i8oIoMQ",
    "client_id": "web-3",
    "client_software_name": "librdkafka",
    "client_software_version": "2.8.0",
    "client_source_address": "10.0.0.7",
}


@pytest.mark.parametrize(
    ("match", "is_meant"),
    [
        ("", True),
        ("client_id=web-.*", True),
        ("client_id=web", False),
        ("client_id=web-3,client_software_name=librdkafka", True),
        ("client_id=web-3, client_software_name = apache-kafka-java", False),
        ("client_source_address=10\\.0\\..*", True),
    ],
)
def test_a_client_is_meant_where_all_of_it_matches(match, is_meant):
    assert means(subscription({"match": match}), CLIENT) == is_meant


@pytest.mark.parametrize("match", ["client_id", "colour=red", "client_id=(", "client_source_port=1"])
def test_a_match_that_is_none_is_refused(match):
    with pytest.raises(SettingError, match="match: "):
        CLIENT_METRICS_ROWS["match"].parse(match)


@pytest.mark.parametrize("interval", ["99", "3600001", "often"])
def test_an_interval_has_bounds(interval):
    with pytest.raises(SettingError):
        CLIENT_METRICS_ROWS["interval.ms"].parse(interval)
