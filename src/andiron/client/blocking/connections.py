"""The connections of one owner, an address each, made when first used and made anew when lost.

A client, a producer and a reader have their own: answers come in the order of the requests, so a question
about metadata on a connection with a long poll on it would wait for that.
"""

from __future__ import annotations

from andiron.client.connection import Connection
from andiron.client.core.addresses import Address
from andiron.client.settings import ClientSettings


class Connections:
    """Open connections by address."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._open: dict[Address, Connection] = {}

    def to(self, address: Address) -> Connection:
        """The connection to that address; NETWORK_EXCEPTION if there can be none."""
        connection = self._open.get(address)
        if connection is None or not connection.is_open:
            connection = self._open[address] = Connection(address, self._settings)
        return connection

    def has(self, address: Address) -> bool:
        """Whether a connection to that address is open."""
        return address in self._open and self._open[address].is_open

    def close(self) -> None:
        """Hang up on all."""
        for connection in self._open.values():
            connection.close()
        self._open.clear()
