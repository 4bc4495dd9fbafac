"""One line of a node's log: a sentence for whoever reads it at night, and facts for whoever searches it by day.

    log.info(Line("Partition {partition} leads", partition=name, leader_epoch=7, isr=[1, 2]))

    as text   Partition orders-3 leads leader_epoch=7 isr=[1,2]
    as JSON   {…, "message": "Partition orders-3 leads", "partition": "orders-3", "leader_epoch": 7, "isr": [1, 2]}

A fact is given once: `{key}` puts it into the sentence, every other follows as key=value. Python's logging takes any
object for a message and asks for its text only when a line is written: one whose level is off formats nothing, and
every formatter, also one that is not ours (edge/log_format.py), writes all of it.

The law: the sentence is a constant that begins with its subject, and keys are those of docs/operations.md; a test holds
both. What comes from outside, such as the id of a group, is a fact and never a part of the sentence: it is quoted
where it is not one plain word, so that nobody can make two lines of one.
"""

from __future__ import annotations

import json
import re

PLAIN = re.compile(r'[^\s"=,\[\]]+')

Value = str | int | float | bool | None | list["Value"]


class Line:
    """A sentence and its facts."""

    __slots__ = ("_facts", "_sentence")

    def __init__(self, sentence: str, /, **facts: object) -> None:
        self._sentence, self._facts = sentence, facts

    @property
    def message(self) -> str:
        """The sentence, with those facts in it that it names."""
        return self._sentence.format_map({key: shown(plain(value)) for key, value in self._facts.items()})

    @property
    def facts(self) -> dict[str, Value]:
        """All facts, for programs."""
        return {key: plain(value) for key, value in self._facts.items()}

    def because(self, error: object, suppressed: int) -> Line:
        """The same line of a thing that failed, with why, and how many like it were left out since the last."""
        return Line(self._sentence, **self._facts, error=error, suppressed=suppressed)

    def __str__(self) -> str:
        told = [
            f"{key}={shown(value)}" for key, value in self.facts.items() if f"{{{key}}}" not in self._sentence
        ]
        return " ".join([self.message, *told])


def plain(value: object) -> Value:
    """A value as JSON can have it: a number or a list stays one, everything else is what it calls itself."""
    if value is None or isinstance(value, str | int | float):
        return value
    if type(value) is list or type(value) is tuple:  # a named tuple has a name of its own
        return [plain(each) for each in value]
    return str(value)


def shown(value: Value) -> str:
    """A value in a line of text; in quotes, as JSON has them, unless it is one plain word."""
    if isinstance(value, list):
        return f"[{','.join(map(shown, value))}]"
    if isinstance(value, str) and value.isprintable() and PLAIN.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=isinstance(value, str) and not value.isprintable())
