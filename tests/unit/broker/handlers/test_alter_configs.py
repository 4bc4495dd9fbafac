"""All settings of a resource at once: what is not named goes back to its default."""

import pytest

from andiron.wire.messages.alter_configs import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from worlds.node import BROKER, TOPIC, error_of


def alter(node, kind, name, version=2, validate_only=False, **configs):
    wanted = [AlterableConfig(key.replace("_", "."), value) for key, value in configs.items()]
    request = AlterConfigsRequest([AlterConfigsResource(kind, name, wanted)], validate_only)
    [result] = node.ask(request, version).responses
    assert (result.resource_type, result.resource_name) == (kind, name)
    return result


@pytest.mark.parametrize("version", range(3))
def test_settings_are_replaced_as_a_whole(node, version):
    node.create("t", retention_ms=5, flush_ms=7)

    assert error_of(alter(node, TOPIC, "t", version, flush_ms="8")) == "NONE"

    settings = node.log("t").settings
    assert (settings.flush_ms, settings.retention_ms) == (8, 7 * 86_400_000)


def test_validate_only_changes_nothing(node):
    node.create("t", retention_ms=5)

    assert error_of(alter(node, TOPIC, "t", validate_only=True, retention_ms="9")) == "NONE"
    assert node.log("t").settings.retention_ms == 5


def test_a_brokers_setting_takes_effect_on_its_topics(node):
    node.create("t")

    assert error_of(alter(node, BROKER, "1", message_max_bytes="100")) == "NONE"

    assert error_of(node.produce("t", bytes(200))) == "MESSAGE_TOO_LARGE"


REFUSED = {
    "a topic that is not there": (TOPIC, "nope", {"flush_ms": "1"}, "UNKNOWN_TOPIC_OR_PARTITION"),
    "a name that none may have": (TOPIC, "a b", {"flush_ms": "1"}, "INVALID_TOPIC_EXCEPTION"),
    "an unknown setting": (TOPIC, "t", {"no_such": "1"}, "INVALID_CONFIG"),
    "a bad value": (TOPIC, "t", {"flush_ms": "soon"}, "INVALID_CONFIG"),
    "no value": (TOPIC, "t", {"flush_ms": None}, "INVALID_REQUEST"),
    "a broker by name": (BROKER, "x", {"message_max_bytes": "1"}, "INVALID_REQUEST"),
    "what cannot change while it runs": (BROKER, "1", {"node_id": "5"}, "INVALID_REQUEST"),
    "a resource that has no settings": (77, "t", {"flush_ms": "1"}, "INVALID_REQUEST"),
}


@pytest.mark.parametrize(("kind", "name", "configs", "code"), REFUSED.values(), ids=REFUSED)
def test_alter_configs_refuses_settings_that_cannot_be(node, kind, name, configs, code):
    node.create("t")
    before = node.log("t").settings

    assert error_of(alter(node, kind, name, **configs)) == code
    assert node.log("t").settings == before
