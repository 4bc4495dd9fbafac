import pytest

from andiron.controller.image import TOPIC
from andiron.sim.watcher import Violation
from andiron.wire.messages.init_producer_id import InitProducerIdRequest


def look(quiet):
    for watcher in quiet.world.watchers:
        watcher.came_up(quiet.host)


def test_acknowledged_topics_survive_everything(quiet):
    quiet.create("t", partitions=2, retention_ms=5)
    for end in (quiet.host.stop, quiet.host.kill, quiet.host.lose_power):
        quiet.restart(end)
    assert "t" in quiet.host.node.broker.image.topics


def test_a_topic_that_is_gone_is_noticed(quiet):
    quiet.create("t")
    quiet.host.node.broker.image.topics.clear()
    with pytest.raises(Violation, match="acknowledged metadata is kept: t is None"):
        look(quiet)


def test_a_topic_that_nobody_asked_for_is_noticed(quiet):
    quiet.create("t")
    image = quiet.host.node.broker.image
    image.topics["u"] = image.topics["t"]
    with pytest.raises(Violation, match="acknowledged metadata is kept: u"):
        look(quiet)


def test_a_setting_that_has_changed_by_itself_is_noticed(quiet):
    quiet.create("t", retention_ms=5)
    quiet.host.node.broker.image.configs[TOPIC, "t"] = {"retention.ms": "6"}
    with pytest.raises(Violation, match="acknowledged metadata is kept"):
        look(quiet)


def test_a_topic_whose_id_has_changed_is_noticed(quiet):
    quiet.create("t")
    quiet.host.node.broker.image.topics["t"].id = b"0123456789abcdef"
    with pytest.raises(Violation, match="has changed its id"):
        look(quiet)


def test_an_id_that_is_given_twice_is_noticed(quiet):
    first = quiet.ask(InitProducerIdRequest(), 2).producer_id
    assert quiet.ask(InitProducerIdRequest(), 2).producer_id == first + 1
    quiet.host.node.broker.producer_ids._next = first
    with pytest.raises(Violation, match="an id is given once"):
        quiet.ask(InitProducerIdRequest(), 2)
