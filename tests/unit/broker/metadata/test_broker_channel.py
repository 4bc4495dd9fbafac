"""A broker asks other brokers, as itself and in its present epoch."""

from types import SimpleNamespace

from andiron.broker.metadata.broker_channel import BrokerChannel
from andiron.model.ids import Address

THERE = Address("there", 9092)


def test_it_is_asked_under_the_epoch_that_the_broker_has_by_then():
    lifecycle = SimpleNamespace(me=1, epoch=-1)
    channel = BrokerChannel(lifecycle, None, None)
    assert (channel.me, channel.epoch) == (1, -1)

    lifecycle.epoch = 7
    assert channel.epoch == 7


def test_another_broker_is_where_the_metadata_says():
    channel = BrokerChannel(SimpleNamespace(me=1), SimpleNamespace(address_of={2: THERE}.get), None)

    assert (channel.address_of(2), channel.address_of(3)) == (THERE, None)


def test_what_is_asked_goes_out_as_a_call():
    asked = []
    calls = SimpleNamespace(call=lambda *call: asked.append(call))
    channel = BrokerChannel(SimpleNamespace(me=1), None, calls)

    channel.call(THERE, "lane", "body", 1_000, print)

    assert asked == [(THERE, "lane", "body", 1_000, print)]
