"""Names that print as people write them."""

from andiron.model.ids import Address, TopicPartition


def test_a_partition_prints_as_its_folder():
    assert str(TopicPartition("orders", 3)) == "orders-3"


def test_a_partition_is_the_pair_of_its_parts():
    assert {("orders", 3): 1}[TopicPartition("orders", 3)] == 1


def test_an_address_prints_as_host_and_port():
    assert str(Address("broker.example.com", 9092)) == "broker.example.com:9092"
