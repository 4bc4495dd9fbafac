"""Pauses double up to a limit, with a little chance in them."""

from __future__ import annotations

from andiron.client.core.backoff import Backoff
from andiron.model.chance import Chance


def test_pauses_double_up_to_the_limit() -> None:
    backoff = Backoff(100, 1000, Chance(1))
    pauses = [backoff.next_ms() for _ in range(6)]

    for pause, middle in zip(pauses, [100, 200, 400, 800, 1000, 1000], strict=True):
        assert 0.8 * middle <= pause <= 1.2 * middle


def test_two_clients_are_not_in_step() -> None:
    mine, yours = (Backoff(1000, 1000, Chance(seed)) for seed in (1, 2))

    assert [mine.next_ms() for _ in range(5)] != [yours.next_ms() for _ in range(5)]


def test_many_attempts_do_not_overflow() -> None:
    backoff = Backoff(100, 1000, Chance(1))
    backoff.attempts = 10_000

    assert backoff.next_ms() <= 1200


def test_no_pause_is_no_pause() -> None:
    assert Backoff(0, 0, Chance(1)).next_ms() == 0
