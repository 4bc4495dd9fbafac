"""Decisions of the exactly-once sink, their topic, and the pointer to the newest one.

    topic andiron.spark.commits   17: batch 41 of query q: participants a, b     compacted; the newest of each key stays
                                  23: batch 42 of query q: participants c, d     ◀─┐
    group andiron-spark-q         offset 23, {"batch": 42, "run": …, "term": …} ──┘ the pointer

A `Decision` is one record: from it on the batch counts, and by it whoever comes next knows which transactions to
commit. The `Pointer` is the newest decision's place, kept as a committed offset so that one question finds it, and
it says who may decide the next one: the run that has registered, under the term that it got.

Both are written in one transaction of the sink's decider, a transactional id of its own. The topic is the truth: a
pointer expires like any offset of a group without members, and is then found again by reading the topic.

Read next: commit_protocol.py, which says who writes these and when.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from andiron.client.core.outbox import ProducerIdentity
from andiron.model.errors import AndironError
from andiron.model.ids import TopicPartition

T = TypeVar("T")

DECISIONS = TopicPartition("andiron.spark.commits", 0)
PREFIX = "andiron-spark-"
NONE_YET = -1
REMEMBERED_RUNS = 8


class SinkError(AndironError):
    """A batch that cannot be committed, and what to do about it."""


class Sink(NamedTuple):
    """One sink of a query: what it writes is decided batch by batch, apart from all others."""

    query: str
    id: str = ""

    @property
    def key(self) -> str:
        """The key of its records in the topic of decisions."""
        return f"{self.query}:{self.id}" if self.id else self.query

    @property
    def decider(self) -> str:
        """The transactional id under which decisions are made; the pointer's group has the same name."""
        return PREFIX + self.key

    @property
    def participants(self) -> str:
        """The prefix of the transactional ids of all its participants."""
        return f"{self.decider}/"

    def __str__(self) -> str:
        return f"query {self.query}" + (f", sink {self.id}" if self.id else "")


class Participant(NamedTuple):
    """What one task has written: a transaction, by its id and the identity that it was written under."""

    name: str  # within the sink and the term
    identity: ProducerIdentity
    rows: int
    digest: str = (
        ""  # of its rows, where its transaction has a timeout: by it they are known when written again
    )

    def transactional_id(self, sink: Sink, term: str) -> str:
        """The transactional id under which the task wrote."""
        return participant_id(sink, term, self.name)


def participant_id(sink: Sink, term: str, name: str) -> str:
    """The transactional id of a participant; no other term has the same."""
    return f"{sink.participants}{term}/{name}"


def term_of(identity: ProducerIdentity) -> str:
    """The term of a decider's identity; there is never another with the same name."""
    return f"{identity.id}.{identity.epoch}"


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on a batch: from its record on the batch counts."""

    batch: int
    run: str
    term: str
    participants: tuple[Participant, ...]
    rows: Mapping[str, int] = field(default_factory=dict)  # by topic, for whoever reads the record
    lost: tuple[Participant, ...] = ()  # that were decided, and aborted by their timeout: to be written again

    def to_json(self) -> bytes:
        """The record's value."""
        told: dict[str, Any] = {
            "batch": self.batch,
            "run": self.run,
            "term": self.term,
            "participants": [_told(each) for each in self.participants],
            "rows": dict(self.rows),
        }
        if self.lost:
            told["lost"] = [_told(each) for each in self.lost]
        return json.dumps(told, separators=(",", ":")).encode()

    @classmethod
    def of_json(cls, value: bytes) -> Decision:
        """A decision, from its record's value."""

        def build(told: Any) -> Decision:
            participants, lost = (
                tuple(
                    Participant(name, ProducerIdentity(number, epoch), *more)
                    for name, number, epoch, *more in each
                )
                for each in (told["participants"], told.get("lost", []))
            )
            return cls(told["batch"], told["run"], told["term"], participants, told["rows"], lost)

        return _parsed(value, f"a record of {DECISIONS.topic}", build)


@dataclass(frozen=True, slots=True)
class Pointer:
    """The newest decision's place, and the run and term that may decide next.

    The turn changes with each decision and is part of what participants are called: those of the newest
    decision are thus left alone while the next batch is written.
    """

    batch: int = NONE_YET
    offset: int = 0  # of the decision's record
    run: str = ""
    term: str = ""
    turn: int = 0
    decided_by: str = ""  # the run that made the newest decision
    writer: str = ""  # and the write of that run that it was
    before: tuple[str, ...] = ()  # runs that have been superseded, the last ones
    mending: bool = False  # the newest decision has lost rows, which are to be written again

    def awaits(self, batch: int) -> bool:
        """Whether there is something of a batch to be decided."""
        return self.batch < batch or (self.mending and self.batch == batch)

    def registered(self, run: str, term: str) -> Pointer:
        """The pointer with another run registered, in a new term."""
        past = (*self.before, self.run) if self.run and self.run != run else self.before
        return replace(self, run=run, term=term, before=past[-REMEMBERED_RUNS:])

    def decided(self, batch: int, offset: int, writer: str, *, mending: bool = False) -> Pointer:
        """The pointer after one more decision of the run that has registered."""
        return replace(
            self,
            batch=batch,
            offset=offset,
            turn=1 - self.turn,
            decided_by=self.run,
            writer=writer,
            mending=mending,
        )

    def to_metadata(self) -> str:
        """The pointer as metadata of the committed offset."""
        told = {
            "batch": self.batch,
            "run": self.run,
            "term": self.term,
            "turn": self.turn,
            "by": self.decided_by,
            "writer": self.writer,
            "before": self.before,
            "mending": self.mending,
        }
        return json.dumps(told, separators=(",", ":"))

    @classmethod
    def of_metadata(cls, offset: int, metadata: str) -> Pointer:
        """The pointer, from a committed offset and its metadata."""

        def build(told: Any) -> Pointer:
            who = (told["run"], told["term"], told["turn"], told["by"], told["writer"])
            return cls(told["batch"], offset, *who, tuple(told["before"]), told.get("mending", False))

        return _parsed(metadata, "the offset that points to the newest decision", build)

    @classmethod
    def found(cls, offset: int, decision: Decision) -> Pointer:
        """Made anew from the newest record, where the pointer itself is gone; nobody has registered."""
        return cls(decision.batch, offset, decided_by=decision.run, mending=bool(decision.lost))


def _told(each: Participant) -> list[str | int]:
    return [each.name, *each.identity, each.rows, *([each.digest] if each.digest else [])]


def _parsed(text: str | bytes, what: str, build: Callable[[Any], T]) -> T:
    try:
        return build(json.loads(text))
    except (KeyError, TypeError, ValueError):
        raise SinkError(f"{what} was not written by this sink: {text[:200]!r}") from None
