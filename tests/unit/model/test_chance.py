"""The same seed, the same chance."""

from base64 import urlsafe_b64encode
from uuid import UUID

from andiron.model.chance import Chance


def test_a_seed_gives_the_same_stream_every_time():
    one, other = Chance(7), Chance(7)

    assert [one.token(16), one.below(100), one.token(8)] == [
        other.token(16),
        other.below(100),
        other.token(8),
    ]


def test_other_seeds_and_later_draws_differ():
    assert Chance(7).token(16) != Chance(8).token(16)
    chance = Chance(7)
    assert chance.token(16) != chance.token(16)


def test_a_draw_stays_below_its_bound():
    chance = Chance(1)

    assert {chance.below(3) for _ in range(100)} == {0, 1, 2}


def test_no_id_begins_with_a_dash_and_each_is_a_random_uuid():
    chance = Chance(1)
    drawn = [chance.uuid() for _ in range(2_000)]

    assert not [each for each in drawn if urlsafe_b64encode(each).startswith(b"-")]
    assert {UUID(bytes=each).version for each in drawn} == {4}
    assert len(set(drawn)) == 2_000
