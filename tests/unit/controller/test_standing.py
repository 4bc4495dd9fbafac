"""Who may lead, given what is about to change."""

from __future__ import annotations

from andiron.controller.image import PartitionImage
from andiron.controller.standing import Standing
from controller.cluster import Cluster, directory

PARTITION = PartitionImage((1, 2), (1, 2), 1, 0, 0, (directory(1), directory(2)))


def test_a_live_broker_may_lead_and_a_fenced_or_unknown_one_may_not():
    standing = Standing(Cluster(2, fenced=(2,)).image)

    assert [standing.may_lead(PARTITION, broker) for broker in (1, 2, 3)] == [True, False, False]


def test_a_broker_counts_as_it_will_be():
    image = Cluster(2, fenced=(2,)).image

    assert Standing(image, image.brokers[2]._replace(fenced=False)).may_lead(PARTITION, 2)
    assert not Standing(image, image.brokers[1]._replace(stopping=True)).may_lead(PARTITION, 1)
    assert Standing(image, image.brokers[2]).broker(1) is image.brokers[1]


def test_what_lies_in_a_directory_that_has_failed_does_not_lead():
    image = Cluster(1).image
    elsewhere = image.brokers[1]._replace(log_dirs=(b"e" * 16,))

    assert not Standing(image, elsewhere).may_lead(PARTITION, 1)
    assert Standing(image, elsewhere).may_lead(PARTITION._replace(directories=()), 1)
