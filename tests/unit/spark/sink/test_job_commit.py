"""All tasks of a job, or none."""

from __future__ import annotations

from typing import Any

import pytest

from andiron.client.core.outbox import ProducerIdentity
from andiron.spark.sink.decision import Participant, Sink, SinkError
from andiron.spark.sink.job_commit import abort_job, commit_job
from andiron.spark.sink.ledger_request import (
    AbortTransaction,
    AcquireDecider,
    CommitParticipant,
    ListOpen,
    Procedure,
)

JOB = Sink("job")
A, B = (Participant(name, ProducerIdentity(number, 0), 3) for number, name in enumerate("ab"))


def asked(course: Procedure[None], answers: dict[type, Any]) -> list[Any]:
    """All that is asked for, when this is what is told."""
    found = []
    answer = None
    try:
        while True:
            found.append(course.send(answer))
            answer = answers.get(type(found[-1]))
    except StopIteration:
        return found


def name(participant: Participant) -> str:
    return participant.transactional_id(JOB, "job")


def test_when_all_are_there_each_is_committed() -> None:
    done = asked(commit_job(JOB, [A, B]), {ListOpen: {name(A): 0, name(B): 1}, CommitParticipant: True})

    assert done == [
        AcquireDecider(JOB),
        ListOpen(JOB),
        CommitParticipant(name(A), A.identity),
        CommitParticipant(name(B), B.identity),
    ]


def test_what_attempts_left_that_did_not_count_is_aborted() -> None:
    done = asked(commit_job(JOB, [A]), {ListOpen: {name(A): 0, "twin": 7}, CommitParticipant: True})

    assert done[-1] == AbortTransaction("twin")


def test_when_one_was_aborted_none_is_committed() -> None:
    with pytest.raises(SinkError, match="nothing was written"):
        asked(commit_job(JOB, [A, B]), {ListOpen: {name(A): 0}})


def test_one_that_is_aborted_in_between_is_said_aloud() -> None:
    with pytest.raises(SinkError, match="with 3 rows was aborted by its timeout when 0 of 2"):
        asked(commit_job(JOB, [A, B]), {ListOpen: {name(A): 0, name(B): 1}, CommitParticipant: False})


def test_a_job_that_failed_is_closed_and_leaves_nothing_open() -> None:
    done = asked(abort_job(JOB), {ListOpen: {"x": 1, "y": 2}})

    assert done == [AcquireDecider(JOB), ListOpen(JOB), AbortTransaction("x"), AbortTransaction("y")]
