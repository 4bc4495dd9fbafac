import pytest

from andiron.sim.clients.admin import Admin, AdminHabits, TopicPlan
from unit.sim.quiet import Quiet

PLANS = [TopicPlan("a", 1, {"retention.ms": "60000"}), TopicPlan("b", 2, {})]


def administering(quiet, destructive):
    habits = AdminHabits({"segment.ms": ["5000", None]}, 200, destructive)
    admin = Admin(quiet.world, quiet.network, "admin", PLANS, habits)
    admin.begin()
    return admin


@pytest.mark.parametrize("destructive", [False, True])
def test_topics_are_made_and_changed_and_there_in_the_end(destructive):
    quiet = Quiet(3)
    admin = administering(quiet, destructive)
    quiet.run(60_000)
    admin.is_closing = True
    quiet.run(60_000)
    assert admin.is_done
    image = quiet.host.node.broker.image
    assert sorted(image.topics) == ["a", "b"]
    quiet.rest()


def test_it_starts_again_where_a_restart_has_interrupted_it(quiet):
    admin = administering(quiet, destructive=True)
    for _ in range(5):
        quiet.run(3_000)
        quiet.restart(quiet.host.kill)
    admin.is_closing = True
    quiet.run(60_000)
    assert admin.is_done
    assert sorted(quiet.host.node.broker.image.topics) == ["a", "b"]
