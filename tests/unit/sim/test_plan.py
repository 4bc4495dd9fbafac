import random

from andiron.sim.plan import make_plan


def test_the_same_seed_is_the_same_plan():
    assert make_plan(random.Random(3)) == make_plan(random.Random(3))


def test_seeds_make_all_kinds_of_worlds():
    plans = [make_plan(random.Random(seed)) for seed in range(200)]
    assert {plan.mood.name for plan in plans} == {"calm", "breeze", "showers", "gale", "storm"}
    configs = [topic.configs for plan in plans for topic in plan.topics]
    assert any("flush.messages" in each for each in configs)
    assert any("compact" in each.get("cleanup.policy", "") for each in configs)
    assert any("retention.ms" in each for each in configs)
    assert {habits.acks for plan in plans for habits in plan.producers} == {0, 1, -1}


def test_compacted_topics_get_keys():
    for seed in range(100):
        plan = make_plan(random.Random(seed))
        compacted = [
            topic.name for topic in plan.topics if "compact" in topic.configs.get("cleanup.policy", "")
        ]
        for habits in plan.producers:
            assert habits.keys or not any(name in compacted for name in habits.topics)
