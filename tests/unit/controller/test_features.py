"""A new cluster begins with its features; one that has begun does not begin again."""

from __future__ import annotations

from andiron.controller.controller import BeginCluster
from andiron.controller.features import METADATA_LEVEL, SUPPORTED
from controller.cluster import Cluster


def test_a_cluster_begins_with_the_newest_level_once():
    cluster = Cluster(brokers=0)
    newest = {"metadata.version": METADATA_LEVEL, "group.version": 1, "transaction.version": 2}
    assert cluster.image.features == newest
    assert len(cluster.log) == 3

    cluster.run(BeginCluster())

    assert len(cluster.log) == 3


def test_what_a_cluster_begins_with_is_supported():
    for name, level in Cluster().image.features.items():
        least, most = SUPPORTED[name]
        assert least <= level <= most
