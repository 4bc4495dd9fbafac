"""Addresses of brokers: `host:port`, and several of them as bootstrap.servers.

A client is told one or more brokers, asks any of them for the cluster's metadata and knows all of them
from then on. More than one is worth telling in case the first is down.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.model.settings import SettingError

SETTING = "bootstrap.servers"
DEFAULT_PORT = 9092
PORT_MAX = 65535


class Address(NamedTuple):
    """Host and port of a broker."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_addresses(text: str) -> list[Address]:
    """`a:9092,b:9093`; a missing port is Kafka's own, an IPv6 address with a port stands in brackets."""
    addresses = [parse_address(each) for each in text.split(",") if each.strip()]
    if not addresses:
        raise SettingError(SETTING, "empty; name at least one broker, such as localhost:9092")
    return list(dict.fromkeys(addresses))


def parse_address(text: str) -> Address:
    """One address."""
    host, port = _split(text.strip())
    if not host:
        raise SettingError(SETTING, f"{text!r} names no host; say it as host:port")
    if not port:
        return Address(host, DEFAULT_PORT)
    if not (port.isascii() and port.isdigit() and 0 < int(port) <= PORT_MAX):
        raise SettingError(SETTING, f"{port!r} in {text!r} is not a port; say it as host:port")
    return Address(host, int(port))


def _split(text: str) -> tuple[str, str]:
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, rest.removeprefix(":")
    if text.count(":") > 1:
        return text, ""  # an IPv6 address by itself
    host, _, port = text.partition(":")
    return host, port
