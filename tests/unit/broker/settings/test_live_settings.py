"""A broker's own settings, as they are now and where they come from."""

from andiron.broker.settings.live_settings import LiveSettings
from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.image import BROKER, Image
from andiron.controller.records import ConfigRecord
from andiron.model.ids import Offset
from worlds.node import PROPERTIES, SmallNode


class Known:
    """Metadata of which only the image is asked."""

    def __init__(self):
        self.image = Image()

    def set(self, broker, value):
        record = ConfigRecord(BROKER, broker, "max.connections", value)
        self.image.replay(record, Offset(self.image.next_offset))


def live(known, **properties):
    given = PROPERTIES | {name.replace("_", "."): value for name, value in properties.items()}
    return LiveSettings(NodeSettings.load(given), known)


def test_what_is_set_for_this_broker_is_stronger_than_what_is_set_for_all():
    known = Known()
    seen, settings = [], live(known, max_connections="9")
    for broker, value in (("2", "1"), ("", "8"), ("1", "7"), ("1", None), ("", None)):
        known.set(broker, value)
        settings.forget()
        seen.append(settings.current().max_connections)

    assert seen == [9, 8, 7, 8, 9]


def test_they_are_put_together_once_until_they_change():
    known = Known()
    settings = live(known)
    before = settings.current()
    known.set("1", "7")

    assert settings.current() is before
    settings.forget()
    assert settings.current().max_connections == 7


def test_layers_are_those_of_this_moment():
    known = Known()
    settings = live(known, max_connections="9")
    known.set("", "8")

    assert settings.layers().value("max.connections") == 8


def test_a_number_in_the_file_that_the_cluster_overrules_is_said_to_have_no_effect(caplog):
    disk = SmallNode(min_insync_replicas="1").disk
    assert "has no effect" not in caplog.text

    node = SmallNode(disk, min_insync_replicas="2")

    assert "Setting min.insync.replicas of the file has no effect" in caplog.text
    assert "value=2 cluster_value=1" in caplog.text
    caplog.clear()
    node.alter_broker("", min_insync_replicas="2")
    node.restart()
    assert "has no effect" not in caplog.text
