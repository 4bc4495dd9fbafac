"""Which partitions are meant, and how they are shown."""

from __future__ import annotations

import click
import pytest

from andiron.cli.selections import Selection, as_selections, chosen, parse_selection, show_partitions
from andiron.client.blocking.client import Client
from andiron.model.errors import Refused
from andiron.model.ids import TopicPartition
from unit.client.scripted import ScriptedBroker


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("t", None), ("t:3", [3]), ("t:0-3,7", [0, 1, 2, 3, 7]), ("t: 1, 2", [1, 2]), ("t:5-5", [5])],
)
def test_a_selection_is_read(text: str, numbers: list[int] | None) -> None:
    assert parse_selection(text) == Selection("t", numbers)


@pytest.mark.parametrize("text", ["", ":3", "t:", "t:x", "t:1,", "t:3-1", "t:-1", "t:0-999999999", "t:1:2"])
def test_what_is_no_selection_is_wrong_usage(text: str) -> None:
    command = click.Command("x", params=[click.Option(["--topic"], multiple=True)])

    with pytest.raises(click.BadParameter):
        as_selections(click.Context(command), command.params[0], [text])


def test_what_was_chosen_is_there_and_comes_once() -> None:
    with ScriptedBroker() as broker, Client(broker.bootstrap) as client:
        broker.topic("t", partitions=3)
        everything = [TopicPartition("t", number) for number in range(3)]

        assert chosen(client, [Selection("t", None)]) == everything
        assert chosen(client, [Selection("t", [2, 0]), Selection("t", [0])]) == [everything[2], everything[0]]
        with pytest.raises(Refused, match="partitions 0 to 2, not 3"):
            chosen(client, [Selection("t", [1, 3])])
        with pytest.raises(Refused, match="no topic 'x'"):
            chosen(client, [Selection("x", None)])


def test_what_is_shown_can_be_read_again() -> None:
    partitions = [TopicPartition("b", 4), *(TopicPartition("a", number) for number in (3, 0, 1, 2, 7))]

    assert show_partitions(partitions) == "a:0-3,7 b:4"
    assert parse_selection("a:0-3,7") == Selection("a", [0, 1, 2, 3, 7])
    assert show_partitions([]) == ""
