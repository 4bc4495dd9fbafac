"""Names that print as people write them."""

from andiron.model.ids import TopicPartition


def test_a_partition_prints_as_its_folder():
    assert str(TopicPartition("orders", 3)) == "orders-3"


def test_a_partition_is_the_pair_of_its_parts():
    assert {("orders", 3): 1}[TopicPartition("orders", 3)] == 1
