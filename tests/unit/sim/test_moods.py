from andiron.sim.moods import CLUSTER_MOODS, MOODS


def test_bits_turn_over_only_where_a_node_is_by_itself():
    assert any(mood.rot for mood in MOODS)
    assert not any(mood.rot for mood in CLUSTER_MOODS)


def test_most_moods_spare_a_majority():
    assert [mood.name for mood in CLUSTER_MOODS if not mood.spares] == ["storm"]
