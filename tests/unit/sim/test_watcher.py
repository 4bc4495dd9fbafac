import pickle

from andiron.sim.watcher import Violation, Watcher


def test_a_violation_says_which_law_and_how():
    violation = Violation("a log only grows", "it shrank")
    assert str(violation) == "a log only grows: it shrank"
    assert (violation.law, violation.how) == ("a log only grows", "it shrank")


def test_a_violation_goes_from_process_to_process():
    again = pickle.loads(pickle.dumps(Violation("law", "how")))
    assert (again.law, again.how) == ("law", "how")


def test_a_watcher_does_nothing_by_itself(quiet):
    watcher = Watcher()
    watcher.stepped(quiet.host)
    watcher.came_up(quiet.host)
    watcher.rested(quiet.host)
    watcher.lost_power(quiet.host)
