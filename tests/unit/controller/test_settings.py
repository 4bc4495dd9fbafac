"""The controller checks a topic's settings together with the defaults that hold for it."""

from __future__ import annotations

import pytest

from andiron.controller.image import BROKER
from andiron.controller.records import ConfigRecord
from andiron.model.settings import SettingError
from controller.cluster import Cluster


def test_settings_are_checked_against_what_the_brokers_give():
    cluster = Cluster(log_cleaner_max_compaction_lag_ms="1000")
    settings = cluster.settings

    settings.check_topic({"min.compaction.lag.ms": "1000"}, cluster.image)
    with pytest.raises(SettingError, match="1001 is above"):
        settings.check_topic({"min.compaction.lag.ms": "1001"}, cluster.image)

    cluster.append([ConfigRecord(BROKER, "", "log.cleaner.max.compaction.lag.ms", "999")])
    with pytest.raises(SettingError, match="1000 is above"):
        settings.check_topic({"min.compaction.lag.ms": "1000"}, cluster.image)


def test_what_was_given_to_the_controllers_own_broker_comes_before_what_all_have():
    cluster = Cluster()
    cluster.append(
        [ConfigRecord(BROKER, "", "log.roll.ms", "5"), ConfigRecord(BROKER, "1", "log.roll.ms", "6")]
    )

    assert cluster.settings.layers(cluster.image).value("log.roll.ms") == 6


def test_a_setting_of_a_topic_is_its_own_or_what_brokers_give():
    cluster = Cluster(min_insync_replicas="2")
    cluster.create("own", min_insync_replicas="3")
    cluster.create("plain")

    found = [
        cluster.settings.of_topic("min.insync.replicas", topic, cluster.image) for topic in ("own", "plain")
    ]

    assert found == [3, 2]


def test_no_settings_are_always_right():
    cluster = Cluster()
    cluster.settings.check_topic({}, cluster.image)
