"""The client's tables: Kafka's names, and what follows from a few of them."""

from __future__ import annotations

import pytest

from andiron.client.settings import ClientSettings, ProducerSettings, ReaderSettings
from andiron.model.settings import SettingError, parse, rows


@pytest.mark.parametrize("table", [ClientSettings, ProducerSettings, ReaderSettings])
def test_every_default_is_allowed(table: type) -> None:
    for row in rows(table).values():
        assert row.parse(row.render(row.default) or "") == row.default


def test_a_table_is_read_from_strings() -> None:
    settings = parse(ProducerSettings, {"acks": "1", "compression.type": "zstd"})

    assert settings == ProducerSettings(acks="1", compression_type="zstd")


def test_what_is_not_allowed_is_refused() -> None:
    with pytest.raises(SettingError, match="acks"):
        parse(ProducerSettings, {"acks": "2"})


@pytest.mark.parametrize(("acks", "number"), [("0", 0), ("1", 1), ("all", -1), ("-1", -1)])
def test_acks_are_a_number_on_the_wire(acks: str, number: int) -> None:
    assert ProducerSettings(acks=acks).acks_number == number


def test_idempotence_needs_all_acks() -> None:
    assert ProducerSettings().idempotent
    assert not ProducerSettings(acks="1").idempotent
    assert not ProducerSettings(enable_idempotence=False).idempotent
