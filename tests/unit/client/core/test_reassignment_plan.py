"""Where a plan puts replicas: laws that hold for any cluster, and the small cases that one can count."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.client.core.reassignment_plan import brokers_of, leaders_away, moved, spread, without
from andiron.client.core.reassignments import PlanError
from andiron.model.ids import TopicPartition

FLAT = dict.fromkeys((1, 2, 3, 4))
RACKS = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "c"}


def assignment(*rows: str) -> dict[TopicPartition, list[int]]:
    """`assignment("12", "23")`: two partitions with their replicas."""
    return {TopicPartition("t", number): list(map(int, row)) for number, row in enumerate(rows)}


def loads(plan: dict[TopicPartition, list[int]]) -> Counter[int]:
    return Counter(each for replicas in plan.values() for each in replicas)


def leads(plan: dict[TopicPartition, list[int]]) -> Counter[int]:
    return Counter(replicas[0] for replicas in plan.values())


def test_what_is_spread_stays_where_it_is() -> None:
    now = assignment("12", "23", "34", "41")

    assert spread(now, FLAT) == now


def test_a_new_broker_gets_its_share_and_no_more_is_moved() -> None:
    now = assignment("12", "23", "31", "12", "23", "31")
    plan = spread(now, FLAT)

    assert moved(now, plan) == 3
    assert sorted(loads(plan).values()) == [3, 3, 3, 3]


def test_a_broker_that_may_not_be_used_loses_all() -> None:
    now = assignment("12", "23", "31")
    plan = spread(now, dict.fromkeys((1, 2, 4)))

    assert brokers_of(plan.values()) == [1, 2, 4]
    assert moved(now, plan) == 2


def test_replicas_can_be_added_and_taken_away() -> None:
    now = assignment("12", "23")

    more = spread(now, FLAT, 3)
    assert all(set(now[each]) < set(more[each]) and len(more[each]) == 3 for each in now)
    fewer = spread(now, FLAT, 1)
    assert all(set(fewer[each]) < set(now[each]) for each in now)
    assert moved(now, fewer) == 0


def test_two_replicas_in_one_rack_are_parted() -> None:
    now = assignment("12", "34", "56")
    plan = spread(now, RACKS)

    assert all(len({RACKS[each] for each in replicas}) == 2 for replicas in plan.values())
    assert moved(now, plan) <= 4  # 3 would do
    assert set(loads(plan).values()) == {1}


def test_fewer_replicas_keep_the_racks() -> None:
    plan = spread(assignment("124"), RACKS, 2)

    assert {RACKS[each] for each in plan[TopicPartition("t", 0)]} == {"a", "b"}


def test_racks_come_before_even_loads() -> None:
    """The only broker of rack a has one of every partition's two replicas."""
    racks = {1: "a", 2: "b", 3: "b"}
    plan = spread(assignment("12", "13", "12", "13"), racks)

    assert loads(plan) == {1: 4, 2: 2, 3: 2}


def test_leadership_is_levelled_by_the_order_alone() -> None:
    now = assignment("12", "13", "14", "12")
    plan = spread(now, FLAT)

    assert max(leads(plan).values()) - min(leads(plan).values()) <= 1


def test_leadership_goes_along_a_path_where_no_swap_would_do() -> None:
    """1 leads three and shares nothing with 3, which leads none: 2 hands on what it gets."""
    now = assignment("12", "12", "12", "23", "23")
    plan = spread(now, dict.fromkeys((1, 2, 3)), elsewhere=None, level=False)

    assert moved(now, plan) == 0
    assert sorted(leads(plan).values()) == [1, 2, 2]


def test_more_replicas_than_brokers_is_told_with_what_to_do() -> None:
    with pytest.raises(
        PlanError, match=r"t has 3 replicas .* only 2 brokers are left .*\(1, 2\).*add a broker"
    ):
        spread(assignment("123"), dict.fromkeys((1, 2)))


def test_taking_all_off_a_broker_moves_that_and_nothing_else() -> None:
    now = assignment("12", "23", "31", "34")
    before, after = without(1, now, FLAT)

    assert list(before) == [TopicPartition("t", 0), TopicPartition("t", 2)]
    assert 1 not in brokers_of(after.values())
    assert moved(before, after) == 2


def test_a_broker_is_emptied_onto_those_that_have_the_least() -> None:
    now = assignment("12", "12", "23", "23", "23")
    _, after = without(1, now, FLAT)

    assert [set(each) for each in after.values()] == [{2, 4}, {2, 4}]


def test_a_broker_cannot_be_emptied_where_the_others_are_too_few() -> None:
    with pytest.raises(PlanError, match="only 2 brokers are left"):
        without(1, assignment("123"), dict.fromkeys((1, 2, 3)))


def test_other_brokers_that_are_down_keep_what_they_have() -> None:
    """Broker 3 is down and may come back: it neither loses what it has nor gets what 1 had."""
    _, after = without(1, assignment("13", "12"), {1: None, 2: None, 4: None}, {3: None})

    assert [set(each) for each in after.values()] == [{3, 4}, {2, 4}]


def test_a_replica_that_stays_is_one_of_those_wanted() -> None:
    _, after = without(1, assignment("123"), dict.fromkeys((1, 2, 4)), {3: None})

    assert [set(each) for each in after.values()] == [{2, 3, 4}]


def test_leadership_leaves_a_broker_for_those_that_lead_the_least() -> None:
    now = assignment("123", "132", "213", "1")

    assert leaders_away(1, now, now) == {
        TopicPartition("t", 0): [3, 2, 1],
        TopicPartition("t", 1): [3, 2, 1],
    }


def test_only_a_replica_in_sync_can_lead() -> None:
    now = assignment("123", "123")

    assert leaders_away(1, now, assignment("12", "1")) == {TopicPartition("t", 0): [2, 3, 1]}


@pytest.mark.parametrize("rows", list(product(["12", "13", "23", "31"], repeat=3)))
def test_no_plan_that_is_as_even_moves_less(rows: tuple[str, ...]) -> None:
    """Against every assignment there is, of three partitions with two replicas on four brokers."""
    now = assignment(*rows)
    plan = spread(now, FLAT)
    pairs = [pair for pair in permutations(FLAT, 2) if pair[0] < pair[1]]
    even = [
        dict(zip(now, map(list, choice), strict=True))
        for choice in product(pairs, repeat=3)
        if max(Counter(each for pair in choice for each in pair).values()) <= 2
        and len({each for pair in choice for each in pair}) == 4
    ]

    assert moved(now, plan) == min(moved(now, each) for each in even)


@st.composite
def clusters(
    draw: st.DrawFn,
) -> tuple[dict[TopicPartition, list[int]], dict[int, str | None], int]:
    brokers = draw(st.lists(st.integers(1, 12), min_size=3, max_size=8, unique=True))
    racks = {each: draw(st.sampled_from([None, "a", "b", "c"])) for each in brokers}
    factor = draw(st.integers(1, 3))
    everyone = st.lists(st.integers(1, 12), min_size=factor, max_size=factor, unique=True)
    rows = draw(st.lists(everyone, min_size=1, max_size=20))
    return {TopicPartition("t", number): row for number, row in enumerate(rows)}, racks, factor


@given(clusters())
@settings(max_examples=150, deadline=None)
def test_any_plan_is_whole_and_on_the_brokers_that_may_be_used(
    cluster: tuple[dict[TopicPartition, list[int]], dict[int, str | None], int],
) -> None:
    now, racks, factor = cluster
    plan = spread(now, racks)

    assert plan.keys() == now.keys()
    for replicas in plan.values():
        assert len(replicas) == len(set(replicas)) == factor
        assert set(replicas) <= set(racks)
        there = len({racks[each] or each for each in racks})
        assert len({racks[each] or each for each in replicas}) == min(factor, there)
    if len(set(racks.values())) == 1 and None in racks.values():
        held = loads(plan)
        assert max(held[each] for each in racks) - min(held[each] for each in racks) <= 1
    assert spread(plan, racks) == plan, "a plan that was carried out has nothing left to do"
