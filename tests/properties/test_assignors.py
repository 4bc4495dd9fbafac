"""The laws of the assignors, over groups of any shape."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.groups.assignors import ASSIGNORS
from andiron.groups.assignors.spec import Subscriber
from properties.effort import tries

TOPICS = [bytes([number]) * 16 for number in range(5)]
NAMES = [f"m{number}" for number in range(9)]

counts = st.dictionaries(st.sampled_from(TOPICS), st.integers(1, 12), min_size=1)
subscriptions = st.lists(st.sampled_from(TOPICS), min_size=1, unique=True).map(lambda ids: tuple(sorted(ids)))
unlike = st.dictionaries(st.sampled_from(NAMES), subscriptions, min_size=1)
alike = st.builds(dict.fromkeys, st.lists(st.sampled_from(NAMES), min_size=1, unique=True), subscriptions)
groups = alike | unlike

law = settings(max_examples=tries(80), deadline=None)
every_assignor = pytest.mark.parametrize("name", list(ASSIGNORS))


def subscribers(reads, owned=None):
    return [
        Subscriber(member, None, topics, (owned or {}).get(member, {})) for member, topics in reads.items()
    ]


def run(name, reads, partitions, owned=None):
    return ASSIGNORS[name](subscribers(reads, owned), partitions)


def owners(assignment):
    return {
        (topic, partition): member
        for member, topics in assignment.items()
        for topic, share in topics.items()
        for partition in share
    }


def loads(assignment):
    return {member: sum(map(len, topics.values())) for member, topics in assignment.items()}


def moved(before, after):
    """Partitions that a member had and another one has now."""
    now = owners(after)
    return sum(now[place] != member for place, member in owners(before).items() if place in now)


@every_assignor
@law
@given(groups, counts)
def test_every_partition_of_a_topic_that_is_read_has_one_owner_who_reads_it(name, reads, partitions):
    assignment = run(name, reads, partitions)

    assert set(assignment) == set(reads)
    given_out = Counter(
        (topic, partition)
        for topics in assignment.values()
        for topic, share in topics.items()
        for partition in share
    )
    read = {topic for topics in reads.values() for topic in topics} & set(partitions)
    assert given_out == {(topic, number): 1 for topic in read for number in range(partitions[topic])}
    for member, topics in assignment.items():
        assert set(topics) <= set(reads[member])
        assert all(share and list(share) == sorted(share) for share in topics.values())


@every_assignor
@law
@given(groups, counts, st.randoms())
def test_the_order_in_which_members_stand_does_not_matter(name, reads, partitions, random):
    shuffled = list(reads.items())
    random.shuffle(shuffled)

    assert run(name, dict(shuffled), partitions) == run(name, reads, partitions)


@every_assignor
@law
@given(groups, counts)
def test_nothing_moves_when_nothing_has_changed(name, reads, partitions):
    first = run(name, reads, partitions)

    assert run(name, reads, partitions, first) == first


@law
@given(alike, counts)
def test_uniform_gives_all_the_same_to_within_one(reads, partitions):
    shares = loads(run("uniform", reads, partitions)).values()

    assert max(shares) - min(shares) <= 1


@law
@given(unlike, counts, st.data())
def test_uniform_leaves_no_partition_that_would_be_better_with_another(reads, partitions, data):
    before = run("uniform", reads, partitions)
    later = data.draw(unlike)

    for assignment, group in ((before, reads), (run("uniform", later, partitions, before), later)):
        load = loads(assignment)
        for (topic, _), owner in owners(assignment).items():
            for member, topics in group.items():
                assert topic not in topics or load[owner] - load[member] <= 1


@law
@given(alike, counts, st.data())
def test_uniform_moves_no_more_than_it_must_when_members_come_and_go(reads, partitions, data):
    topics = next(iter(reads.values()))
    before = run("uniform", reads, partitions)
    later = dict.fromkeys(data.draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True)), topics)

    after = run("uniform", later, partitions, before)

    # A member that stays gives up only what is above its due; one that goes, all that it had.
    total, had = sum(loads(before).values()), loads(before)
    least, more = divmod(total, len(later))
    excess = sorted((had[member] - least for member in reads if member in later), reverse=True)
    keep_one_more = sum(over > 0 for over in excess[:more])
    must = sum(max(0, over) for over in excess) - keep_one_more
    gone = sum(had[member] for member in reads if member not in later)
    assert moved(before, after) == must + gone


@law
@given(alike, counts, st.data())
def test_uniform_takes_a_topic_that_has_grown_or_gone_without_moving_the_rest(reads, partitions, data):
    before = run("uniform", reads, partitions)
    topic = data.draw(st.sampled_from(sorted(partitions)))
    changed = {**partitions, topic: data.draw(st.integers(0, 20))}

    after = run("uniform", reads, changed, before)

    shares = loads(after).values()
    assert max(shares) - min(shares) <= 1
    if changed[topic] >= partitions[topic]:
        assert moved(before, after) == 0


@law
@given(alike, st.integers(1, 12))
def test_range_cuts_topics_of_a_size_at_the_same_places(reads, size):
    assignment = run("range", reads, dict.fromkeys(TOPICS, size))

    for topics in assignment.values():
        assert len(set(topics.values())) <= 1
        for share in topics.values():
            assert share == tuple(range(share[0], share[-1] + 1))


@law
@given(alike, counts)
def test_range_knows_a_static_member_by_its_instance_id(reads, partitions):
    group = [Subscriber(member, f"i-{member}", topics, {}) for member, topics in reads.items()]
    restarted = [one._replace(id=f"new-{one.id}") if not place else one for place, one in enumerate(group)]

    first = ASSIGNORS["range"](group, partitions)
    second = ASSIGNORS["range"](restarted, partitions)

    assert second[restarted[0].id] == first[group[0].id]
    assert all(second[one.id] == first[one.id] for one in group[1:])
