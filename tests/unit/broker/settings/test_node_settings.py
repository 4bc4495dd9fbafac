"""A server.properties as Kafka users have it becomes a node's settings, or one clear line."""

from __future__ import annotations

import pytest

from andiron.broker.settings.listeners import Listener, Voter
from andiron.broker.settings.node_settings import NodeSettings, broker_settings, topic_settings
from andiron.broker.settings.property_file import parse_properties
from andiron.log.settings import LogSettings
from andiron.model.settings import DAY, HOUR, SettingError

COMBINED = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
log.dirs=/var/kafka/data
metadata.log.dir=/var/kafka/metadata
"""

# The settings of the file that comes with Kafka 4, without its comments.
STOCK = """\
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,\\
    SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=2
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""

SMALLEST = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
}


@pytest.mark.parametrize("server", ["localhost:9093", "127.0.0.1:9093"])
def test_a_controller_that_is_told_of_itself_only_votes_alone(server):
    assert list(load(controller__quorum__bootstrap__servers=server).voters) == [1]


@pytest.mark.parametrize("servers", ["elsewhere:9093", "localhost:9094", "localhost:9093,elsewhere:9093"])
def test_a_controller_that_is_told_of_others_waits_for_a_vote(servers):
    settings = load(controller__quorum__bootstrap__servers=servers)

    assert settings.voters == {}
    assert len(settings.bootstrap_controllers) == servers.count(":")


def load(**changes: str | None) -> NodeSettings:
    given = {**SMALLEST, **{name.replace("__", "."): value for name, value in changes.items()}}
    return NodeSettings.load({name: value for name, value in given.items() if value is not None})


def test_a_combined_node_works_as_typed():
    settings = NodeSettings.load(parse_properties(COMBINED))

    assert settings.node_id == 1
    assert settings.roles == ("broker", "controller")
    assert settings.listeners == [Listener("PLAINTEXT", "", 9092), Listener("CONTROLLER", "", 9093)]
    assert settings.advertised == [Listener("PLAINTEXT", "localhost", 9092)]
    assert settings.controller_listeners == ("CONTROLLER",)
    assert settings.inter_broker_listener == "PLAINTEXT"
    assert settings.voters == {1: Voter(1, "localhost", 9093)}
    assert settings.log_dirs == ("/var/kafka/data",)
    assert settings.metadata_log_dir == "/var/kafka/metadata"
    assert settings.log_defaults == LogSettings()
    assert settings.notices == []


def test_the_file_that_comes_with_kafka_works_and_says_what_has_no_effect():
    settings = NodeSettings.load(parse_properties(STOCK))

    assert settings.advertised == [Listener("PLAINTEXT", "localhost", 9092)]
    assert settings.voters == {1: Voter(1, "localhost", 9093)}
    assert settings.metadata_log_dir == "/tmp/kraft-combined-logs"
    assert settings.log_defaults == LogSettings()
    assert [notice.split(" (")[0] for notice in settings.notices] == [
        "without effect: "
        "share.coordinator.state.topic.replication.factor, share.coordinator.state.topic.min.isr",
    ]
    assert settings.groups.offsets_topic_replication_factor == 1
    assert settings.transactions.transaction_state_log_min_isr == 1


def test_a_listener_without_a_host_is_advertised_by_the_machines_name():
    settings = NodeSettings.load(SMALLEST, hostname="box")

    assert settings.advertised == [Listener("PLAINTEXT", "box", 9092)]
    assert settings.voters == {1: Voter(1, "box", 9093)}


def test_the_older_name_of_the_nodes_id_still_counts():
    settings = load(node__id=None, broker__id="4")

    assert settings.node_id == 4
    assert settings.given["node.id"] == settings.given["broker.id"] == "4"


def test_several_directories_and_the_trailing_slash():
    settings = load(log__dirs="/a/,/b")

    assert settings.log_dirs == ("/a", "/b")
    assert settings.metadata_log_dir == "/a"


def test_the_brokers_settings_give_topics_their_defaults():
    assert load(log__retention__hours="24").log_defaults.retention_ms == DAY
    assert load(log__roll__ms="5", log__roll__hours="1").log_defaults.segment_ms == 5


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"node__id": None}, "node.id: not given"),
        ({"node__id": "-1"}, "node.id: -1 is below 0"),
        ({"broker__id": "2"}, "broker.id: 2 is not node.id, 1"),
        ({"process__roles": None}, "process.roles: not given"),
        ({"process__roles": "leader"}, "process.roles: 'leader' is none of broker, controller"),
        (
            {"process__roles": "broker"},
            "listeners: CONTROLLER is the controller's, and by process.roles this node is a broker alone",
        ),
        (
            {"process__roles": "broker", "listeners": "PLAINTEXT://:9092"},
            "controller.quorum.voters: not given; a broker alone",
        ),
        (
            {
                "process__roles": "broker",
                "listeners": "PLAINTEXT://:9092",
                "controller__quorum__voters": "1@h:1,2@h:2",
            },
            "controller.quorum.voters: node 1 is a voter, so process.roles must have controller",
        ),
        (
            {"process__roles": "controller"},
            "listeners: PLAINTEXT is for clients, and a controller alone serves none",
        ),
        ({"listeners": "PLAINTEXT://:9092"}, "controller.listener.names: not given"),
        ({"listeners": "CONTROLLER://:9093"}, "listeners: all of them are the controller's"),
        ({"listeners": "PLAINTEXT://:1,CONTROLLER://:1"}, "listeners: .* share a port"),
        ({"listeners": "A://:1,A://:2"}, "listeners: A is there twice"),
        (
            {"controller__listener__names": "QUORUM"},
            "controller.listener.names: QUORUM is not among listeners",
        ),
        ({"advertised__listeners": "OTHER://h:1"}, "advertised.listeners: OTHER is not among listeners"),
        ({"advertised__listeners": "CONTROLLER://h:1"}, "advertised.listeners: there is none for clients"),
        (
            {"advertised__listeners": "PLAINTEXT://0.0.0.0:1"},
            "advertised.listeners: nobody can connect to 0.0.0.0",
        ),
        (
            {"listeners": "PLAINTEXT://0.0.0.0:1,CONTROLLER://:2"},
            "listeners: nobody can connect to 0.0.0.0; set advertised.listeners=PLAINTEXT://",
        ),
        ({"inter__broker__listener__name": "INSIDE"}, "inter.broker.listener.name: INSIDE is not among"),
        (
            {"inter__broker__listener__name": "CONTROLLER"},
            "inter.broker.listener.name: CONTROLLER is not among",
        ),
        (
            {"listeners": "A://:1,CONTROLLER://:2"},
            "protocol.map: no protocol for listener A; add A:PLAINTEXT",
        ),
        ({"listeners": "SSL://:1,CONTROLLER://:2"}, "protocol.map: SSL is SSL, which is not served yet"),
        (
            {"listener__security__protocol__map": "PLAINTEXT:PLAINTEXT"},
            "protocol.map: no protocol for listener CONTROLLER",
        ),
        (
            {"security__inter__broker__protocol": "SSL"},
            "security.inter.broker.protocol: 'SSL' is none of PLAINTEXT",
        ),
        (
            {"controller__quorum__voters": "2@h:1"},
            "controller.quorum.voters: node 1 is a controller and not among",
        ),
        (
            {"controller__quorum__bootstrap__servers": "h"},
            "controller.quorum.bootstrap.servers: 'h' has no port",
        ),
        ({"log__dirs": "/a,/a/"}, "log.dirs: a directory is there twice"),
        ({"log__dirs": ""}, "log.dirs: empty; name at least one"),
        ({"log__retention__hours": "x"}, "log.retention.hours: 'x' is not a whole number"),
        ({"log__segment__bytes": "5"}, "log.segment.bytes: 5 is below 1048576"),
        (
            {"log__cleaner__max__compaction__lag__ms": "1", "log__cleaner__min__compaction__lag__ms": "2"},
            "lag",
        ),
        ({"num__partition": "5"}, "num.partition: there is no such setting; did you mean num.partitions"),
        ({"retention__ms": "5"}, "retention.ms: there is no such setting; did you mean log.retention.ms"),
        ({"authorizer__class__name": "X"}, "authorizer.class.name: not supported: there is no authorizer"),
        ({"zookeeper__connect": "h:2181"}, "zookeeper.connect: not supported: there is no ZooKeeper"),
    ],
)
def test_a_contradiction_is_named(changes, complaint):
    with pytest.raises(SettingError, match=complaint):
        load(**changes)


def test_a_refused_setting_may_be_there_without_a_value():
    assert load(authorizer__class__name="").node_id == 1


def test_a_topics_settings_are_its_own_over_the_brokers():
    node = load(log__retention__hours="24")

    assert topic_settings({}, {}, {}, node) is node.log_defaults
    assert topic_settings({"retention.ms": "7"}, {}, {}, node).retention_ms == 7
    assert topic_settings({}, {}, {"log.retention.ms": "9"}, node).retention_ms == 9
    assert topic_settings({}, {"log.retention.ms": "8"}, {"log.retention.ms": "9"}, node).retention_ms == 8
    assert topic_settings({"segment.ms": str(HOUR)}, {}, {}, node).retention_ms == DAY


def test_a_topics_setting_that_has_no_row_is_left_alone():
    node = load()

    assert topic_settings({"of.a.later.version": "true"}, {}, {}, node) == node.log_defaults


def test_a_brokers_settings_change_while_it_runs_where_they_may():
    node = load(max__connections="10", num__partitions="3")

    assert broker_settings({}, {}, node) == node.broker
    assert broker_settings({"max.connections": "5"}, {"max.connections": "7"}, node).max_connections == 5
    assert broker_settings({}, {"num.partitions": "7"}, node).num_partitions == 3


def test_metrics_are_served_where_that_is_asked_for():
    assert load().metrics_listener is None
    assert load(**{"metrics.listener": "http://localhost:9644"}).metrics_listener == Listener(
        "http", "localhost", 9644
    )


def test_metrics_need_a_port_of_their_own():
    with pytest.raises(SettingError, match="share a port"):
        load(**{"metrics.listener": "http://:9092"})
