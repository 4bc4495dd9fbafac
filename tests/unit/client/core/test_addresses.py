"""host:port in all its spellings."""

from __future__ import annotations

import pytest

from andiron.client.core.addresses import Address, parse_address, parse_addresses
from andiron.model.settings import SettingError


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost:9093", Address("localhost", 9093)),
        (" broker ", Address("broker", 9092)),
        ("[::1]:9093", Address("::1", 9093)),
        ("[::1]", Address("::1", 9092)),
        ("fe80::1", Address("fe80::1", 9092)),
    ],
)
def test_an_address_is_read(text: str, address: Address) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", [":9092", "host:x", "host:0", "host:65536", "host:-1", "host:٣"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match=r"^bootstrap\.servers: "):
        parse_address(text)


def test_several_are_kept_in_order_and_once() -> None:
    assert parse_addresses("b:1, a:2,b:1,") == [Address("b", 1), Address("a", 2)]


def test_none_at_all_is_refused() -> None:
    with pytest.raises(SettingError, match="name at least one broker"):
        parse_addresses(" , ")


def test_an_address_is_shown_as_it_is_typed() -> None:
    assert str(Address("host", 9092)) == "host:9092"
    assert str(Address("::1", 9092)) == "[::1]:9092"
