"""Who is heard of, and how far each has come."""

from __future__ import annotations

from andiron.controller.broker_sessions import BrokerSessions
from andiron.model.ids import NEVER
from controller.cluster import Cluster


def test_a_session_lasts_from_one_heartbeat_for_its_time():
    sessions = BrokerSessions(100)
    sessions.heard_of(1, 0, now=50)

    assert sessions.is_open(1, now=149)
    assert not sessions.is_open(1, now=150)
    assert (sessions.ended(149), sessions.ended(150)) == ([], [1])
    assert sessions.next_deadline() == 150


def test_a_heartbeat_begins_it_anew():
    sessions = BrokerSessions(100)
    sessions.heard_of(1, 0, now=0)
    sessions.heard_of(2, 0, now=10)
    sessions.heard_of(1, 0, now=60)

    assert sessions.next_deadline() == 110
    assert sessions.ended(120) == [2]


def test_a_broker_that_is_forgotten_has_no_session():
    sessions = BrokerSessions(100)
    sessions.heard_of(1, 0, now=0)

    sessions.forget(1)

    assert (sessions.next_deadline(), sessions.ended(1_000), sessions.is_open(1, 1)) == (NEVER, [], False)


def test_after_taking_over_all_that_are_not_fenced_have_a_full_session():
    sessions = BrokerSessions(100)

    sessions.begin(Cluster(3, fenced=(2,)).image, now=1_000)

    assert sessions.next_deadline() == 1_100
    assert sessions.ended(1_100) == [1, 3]


def test_a_broker_knows_of_itself_once_it_has_read_its_registration():
    sessions, broker = BrokerSessions(100), Cluster(1).image.brokers[1]
    assert sessions.has_read_its_registration(broker, broker.epoch)

    sessions.registered(1, broker.epoch + 1)

    assert not sessions.has_read_its_registration(broker, broker.epoch)
    assert sessions.has_read_its_registration(broker, broker.epoch + 1)


def test_a_stopping_broker_waits_until_all_live_ones_have_read_of_it():
    sessions, image = BrokerSessions(100), Cluster(3, fenced=(3,)).image
    sessions.moved(1, 40)
    assert not sessions.all_know_that_it_leads_nothing(1, image)

    sessions.heard_of(2, 39, now=0)
    assert not sessions.all_know_that_it_leads_nothing(1, image)
    sessions.heard_of(2, 40, now=0)
    assert sessions.all_know_that_it_leads_nothing(1, image)


def test_after_taking_over_nobody_is_known_to_have_read_anything():
    sessions, image = BrokerSessions(100), Cluster(2).image
    image.brokers[1] = image.brokers[1]._replace(stopping=True)

    sessions.begin(image, now=0)

    assert not sessions.all_know_that_it_leads_nothing(1, image)
    sessions.heard_of(2, image.next_offset - 1, now=0)
    assert sessions.all_know_that_it_leads_nothing(1, image)
