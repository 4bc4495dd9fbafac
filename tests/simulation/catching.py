"""Whether a seed catches a planted bug: its history breaks a law with the bug in it, and breaks none without."""

from __future__ import annotations

from functools import cache

from andiron.sim.play import play
from simulation import cluster_bugs, coordinator_bugs

# By how many nodes there are in the histories that they are looked for in.
PLANTED = {1: coordinator_bugs.BUGS, 3: cluster_bugs.BUGS}


# Bugs that show themselves once in thousands of histories, and often where one kind of fault follows upon the other.
MOODS = {
    "a_flush_that_could_not_begin_is_forgotten": "no-inodes",
    "an_earlier_life_of_a_broker_may_join_the_isr": "short-lives",
    "the_first_of_two_fetches_takes_the_news_of_the_second": "small-slices",
}


def law_broken(name: str, nodes: int, seed: int) -> str | None:
    """The first law that a history breaks with a bug in it."""
    with PLANTED[nodes][name]():  # type: ignore[attr-defined]
        violation = play(seed, nodes=nodes, mood=MOODS.get(name)).violation
    return violation and violation.law


@cache
def length(nodes: int, seed: int, mood: str | None = None) -> int | None:
    """How many lines a history has as it is; None if something is wrong in it."""
    outcome = play(seed, nodes=nodes, mood=mood)
    return None if outcome.violation else outcome.lines
