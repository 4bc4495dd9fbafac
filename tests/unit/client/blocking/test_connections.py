"""One connection an address, made anew when lost."""

from __future__ import annotations

from andiron.client.blocking.connections import Connections
from andiron.client.core.addresses import Address
from andiron.client.settings import ClientSettings
from unit.client.scripted import ScriptedBroker


def test_a_connection_is_made_once() -> None:
    with ScriptedBroker() as broker:
        address = Address("127.0.0.1", broker.port)
        connections = Connections(ClientSettings())
        assert not connections.has(address)

        assert connections.to(address) is connections.to(address)
        assert connections.has(address)


def test_a_lost_connection_is_made_anew() -> None:
    with ScriptedBroker() as broker:
        address = Address("127.0.0.1", broker.port)
        connections = Connections(ClientSettings())
        first = connections.to(address)
        first.close()

        assert not connections.has(address)
        assert connections.to(address) is not first
        assert broker.connections == 2


def test_closing_closes_all() -> None:
    with ScriptedBroker() as broker:
        connections = Connections(ClientSettings())
        first = connections.to(Address("127.0.0.1", broker.port))
        connections.close()

        assert not first.is_open
