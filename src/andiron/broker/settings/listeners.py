"""Listeners: where a node can be reached, under which names, and for whom.

    listeners=PLAINTEXT://:9092,CONTROLLER://:9093        where it listens
    advertised.listeners=PLAINTEXT://broker-1:9092        what clients are told
    controller.listener.names=CONTROLLER                  which of them are the controller's

A name is a name and not a protocol; `listener.security.protocol.map` says which protocol it speaks.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Flag
from typing import NamedTuple

from andiron.model.settings import SettingError

EVERYWHERE = ("0.0.0.0", "::")  # addresses to listen on, which nobody can connect to


class Listener(NamedTuple):
    """A named address; as a place to listen, no host means every address of the machine."""

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.name}://{bracketed(self.host)}:{self.port}"


class Scope(Flag):
    """On which listeners an API is served: those for clients, or the controllers' own."""

    BROKER = 1
    CONTROLLER = 2
    BOTH = 3


class Voter(NamedTuple):
    """A controller that votes, and where it is reached."""

    node_id: int
    host: str
    port: int


def bracketed(host: str) -> str:
    """A host as it stands before a port: IPv6 addresses go into brackets."""
    return f"[{host}]" if ":" in host else host


def parse_listeners(setting: str, texts: Iterable[str]) -> list[Listener]:
    """Listeners by different names, in their order."""
    found: dict[str, Listener] = {}
    for text in texts:
        name, separator, address = text.partition("://")
        if not separator or not name:
            raise SettingError(setting, f"{text!r} is not a listener; write NAME://host:port")
        listener = Listener(name.upper(), *_host_and_port(setting, address, text, empty_host=True))
        if listener.name in found:
            raise SettingError(
                setting, f"{listener.name} is there twice; each listener needs a name of its own"
            )
        found[listener.name] = listener
    return list(found.values())


def parse_names(texts: Iterable[str]) -> list[str]:
    """The names of listeners that have been parsed before."""
    return [text.partition("://")[0].upper() for text in texts]


def check_ports(listeners: Iterable[Listener]) -> None:
    """Two listeners may share a port only on different addresses; port 0 is a free one each time."""
    taken: dict[int, Listener] = {}
    for listener in listeners:
        other = taken.setdefault(listener.port, listener)
        if other is listener or listener.port == 0:
            continue
        apart = other.host and listener.host and other.host != listener.host
        if not apart or any(host in EVERYWHERE for host in (other.host, listener.host)):
            raise SettingError("listeners", f"{other} and {listener} share a port; give each its own")


def parse_http(setting: str, text: str | None) -> Listener | None:
    """Where something is served over HTTP; None if nothing was given."""
    if not text:
        return None
    scheme, separator, address = text.partition("://")
    if not separator or scheme.lower() != "http":
        raise SettingError(setting, f"{text!r} is no such address; write http://host:port")
    return Listener("http", *_host_and_port(setting, address.removesuffix("/"), text, empty_host=True))


def parse_voters(setting: str, texts: Iterable[str]) -> dict[int, Voter]:
    """The voters by node, in their order."""
    voters: dict[int, Voter] = {}
    for text in texts:
        node, separator, address = text.partition("@")
        if not separator or not node.isdecimal():
            raise SettingError(setting, f"{text!r} is not a voter; write id@host:port")
        voter = Voter(int(node), *_host_and_port(setting, address, text))
        if voter.node_id in voters:
            raise SettingError(setting, f"node {voter.node_id} is there twice")
        voters[voter.node_id] = voter
    return voters


def parse_servers(setting: str, texts: Iterable[str]) -> list[tuple[str, int]]:
    """Addresses as host:port."""
    return [_host_and_port(setting, text, text) for text in texts]


def parse_protocols(setting: str, text: str) -> dict[str, str]:
    """Listener name to protocol."""
    protocols = {}
    for item in text.split(","):
        name, separator, protocol = item.strip().partition(":")
        if not separator or not name or not protocol:
            raise SettingError(setting, f"{item.strip()!r} is not a pair; write NAME:PROTOCOL")
        protocols[name.upper()] = protocol.upper()
    return protocols


def _host_and_port(setting: str, address: str, text: str, *, empty_host: bool = False) -> tuple[str, int]:
    host, separator, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not separator or not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        raise SettingError(setting, f"{text!r} has no port from 0 to 65535 at its end")
    if not host and not empty_host:
        raise SettingError(setting, f"{text!r} has no host")
    if any(char in host for char in "/@ "):
        raise SettingError(setting, f"{text!r} has a host that is not one: {host!r}")
    return host, int(port)
