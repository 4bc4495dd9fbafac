"""A line of the log: the sentence for people, the facts for programs, and one line whatever is in it."""

import json
import logging

import pytest

from andiron.model.ids import TopicPartition
from andiron.model.line import Line

LEADS = Line("Partition {partition} leads", partition=TopicPartition("orders", 3), leader_epoch=7, isr=[1, 2])


def test_facts_stand_in_the_sentence_or_behind_it():
    assert str(LEADS) == "Partition orders-3 leads leader_epoch=7 isr=[1,2]"


def test_programs_get_all_facts_as_they_are():
    assert LEADS.message == "Partition orders-3 leads"
    assert LEADS.facts == {"partition": "orders-3", "leader_epoch": 7, "isr": [1, 2]}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("No space left on device", '"No space left on device"'),
        ("", '""'),
        ("a=b", '"a=b"'),
        ("größe", "größe"),
        (("a b", "c"), '["a b",c]'),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        (OSError("full"), "full"),
    ],
)
def test_what_is_not_one_plain_word_is_quoted(value, told):
    assert str(Line("Disk failed", error=value)) == f"Disk failed error={told}"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\x85", "\u2028", "\x1b[2J"])
def test_nobody_makes_two_lines_of_one(end):
    forged = f"g{end}2026-03-01T12:00:00.000Z ERROR andiron: all is lost"
    line = Line("Group {group} is empty", group=forged, member=forged)

    assert str(line).isprintable()
    assert json.loads(str(line).split("member=")[1]) == forged


def test_a_line_is_a_message_of_pythons_logging(caplog):
    logging.getLogger("andiron.test").warning(LEADS)

    assert caplog.messages == [str(LEADS)]


def test_a_line_whose_level_is_off_is_not_formatted():
    class Unspeakable:
        def __str__(self) -> str:
            raise AssertionError("nobody wants to know")

    logging.getLogger("andiron.test").debug(Line("Partition {partition} leads", partition=Unspeakable()))
