from andiron.sim.trace import Trace


def noted(*lines):
    trace = Trace(1_000)
    for line in lines:
        trace.note(*line)
    return trace


def test_a_line_is_columns():
    told = []
    Trace(1_000, told.append).note(2_234, "node-1", "says", "Fetch v4 #1")
    assert told == ["      1.234  node-1      says        Fetch v4 #1"]


def test_the_same_lines_have_the_same_hash_and_others_another():
    one, two = (1_001, "a", "b", "c"), (1_002, "a", "b")
    assert noted(one, two).digest() == noted(one, two).digest()
    assert noted(one, two).digest() != noted(two, one).digest()
    assert noted(one).digest() != noted(one, two).digest()
    assert noted(one, two).count == 2
