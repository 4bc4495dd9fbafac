import random
from dataclasses import replace

from andiron.sim.moods import CLUSTER_MOODS, MOODS, SINGLE_MINDED
from andiron.sim.plan import make_plan


def planned(seed):
    return make_plan(seed, random.Random(seed))


def test_the_same_seed_is_the_same_plan():
    assert planned(3) == planned(3)


def test_a_mood_that_is_asked_for_is_all_that_changes():
    calm, asked = planned(3), make_plan(3, random.Random(3), mood="short-lives")

    assert asked.mood is SINGLE_MINDED["short-lives"]
    assert replace(asked, mood=calm.mood) == calm


def test_seeds_make_all_kinds_of_worlds():
    plans = [planned(seed) for seed in range(200)]
    assert {plan.mood.name for plan in plans} == {mood.name for mood in (*MOODS, *CLUSTER_MOODS)}
    configs = [topic.configs for plan in plans for topic in plan.topics]
    assert any("flush.messages" in each for each in configs)
    assert any("compact" in each.get("cleanup.policy", "") for each in configs)
    assert any("retention.ms" in each for each in configs)
    assert {habits.acks for plan in plans for habits in plan.producers} == {0, 1, -1}


def test_compacted_topics_get_keys():
    for seed in range(100):
        plan = planned(seed)
        compacted = [
            topic.name for topic in plan.topics if "compact" in topic.configs.get("cleanup.policy", "")
        ]
        for habits in plan.producers:
            assert habits.keys or not any(name in compacted for name in habits.topics)


def test_about_half_of_the_worlds_are_of_coordinators_and_the_others_know_nothing_of_them():
    plans = [planned(seed) for seed in range(200)]
    coordinated = [plan for plan in plans if "transaction.two.phase.commit.enable" in plan.properties]
    assert 70 < len(coordinated) < 130
    assert not any(plan.transactors or plan.members for plan in plans if plan not in coordinated)
    assert {plan.durable for plan in coordinated} == {True, False}
