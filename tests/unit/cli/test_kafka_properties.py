"""What Kafka is told of a folder, and what is remarked."""

from __future__ import annotations

import pytest

from andiron.broker.metadata.offline_metadata import OfflineMetadata, read_offline_metadata
from andiron.broker.settings.property_file import parse_properties
from andiron.cli.failure import Failure
from andiron.cli.kafka_properties import KafkaProperties, for_kafka
from andiron.controller.image import Image
from worlds.node import SmallNode

PLAIN = {
    "node.id": "1",
    "process.roles": "broker,controller",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "log.dirs": "/data",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.two.phase.commit.enable": "true",
    "unstable.api.versions.enable": "true",
}


def stored(**properties: str) -> OfflineMetadata:
    node = SmallNode(**properties)
    node.node.stop(node.now)
    return read_offline_metadata(node.disk, "/data")


def told(of: OfflineMetadata, given: dict[str, str] | None = None, **chosen: str) -> KafkaProperties:
    return for_kafka(1, ["/data"], of, given, {name.replace("_", "."): text for name, text in chosen.items()})


def test_a_folder_of_a_plain_node_tells_all_that_kafka_needs() -> None:
    assert told(stored()).settings == PLAIN


def test_a_folder_of_before_has_its_voters_in_the_settings() -> None:
    found = told(stored(controller_quorum_voters="1@localhost:9093"))

    assert found.settings["controller.quorum.voters"] == "1@localhost:9093"
    assert "controller.quorum.bootstrap.servers" not in found.settings
    assert any("andiron cluster upgrade" in remark for remark in found.remarks)


def test_a_file_passes_through_but_for_what_is_ours_alone() -> None:
    given = {**PLAIN, "metrics.listener": "http://localhost:9100", "num.partitions": "4"}
    del given["controller.quorum.bootstrap.servers"], given["transaction.two.phase.commit.enable"]
    del given["unstable.api.versions.enable"]

    found = told(stored(), given, log_retention_hours="1")

    assert found.settings["num.partitions"] == "4"
    assert found.settings["log.retention.hours"] == "1"
    assert "metrics.listener" not in found.settings
    assert "unstable.api.versions.enable" not in found.settings
    assert any("metrics.listener" in remark for remark in found.remarks)


def test_a_setting_that_does_nothing_here_is_said_to_take_effect_there() -> None:
    found = told(stored(), num_io_threads="4")

    assert any("Takes effect there: num.io.threads" in remark for remark in found.remarks)


def test_listeners_of_other_names_are_those_of_the_inter_broker_protocol_too() -> None:
    found = told(stored(listeners="OUTSIDE://localhost:9092,CONTROLLER://localhost:9093",
                        listener_security_protocol_map="OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT"),
                 listener_security_protocol_map="OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT")  # fmt: skip

    assert found.settings["listeners"] == "OUTSIDE://localhost:9092,CONTROLLER://localhost:9093"
    assert found.settings["inter.broker.listener.name"] == "OUTSIDE"


def test_a_folder_in_which_no_node_has_registered_is_told() -> None:
    with pytest.raises(Failure, match="nobody knows where it listens"):
        told(OfflineMetadata(Image(), None))


def test_settings_of_another_node_are_refused() -> None:
    with pytest.raises(Failure, match="the folder of node 1, and the settings are those of 2"):
        told(stored(), {**PLAIN, "node.id": "2"})


def test_what_is_printed_is_read_back_as_it_was() -> None:
    settings = {"log.dirs": "C:\\new\tfolder", "node.id": "1"}

    assert parse_properties(KafkaProperties(settings, ["a remark"]).render(["a head"])) == settings
