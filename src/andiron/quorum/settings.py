"""What an operator can say about elections of the metadata quorum, under Kafka's own names."""

from __future__ import annotations

from dataclasses import dataclass

from andiron.model.settings import INT, SECOND, setting


@dataclass(frozen=True, slots=True)
class QuorumSettings:
    """How long the nodes of the quorum wait for each other."""

    controller_quorum_election_timeout_ms: int = setting(
        "controller.quorum.election.timeout.ms",
        INT,
        1 * SECOND,
        "How long a voter that knows no leader waits before it stands for election, and at most twice that.",
        least=1,
    )
    controller_quorum_election_backoff_max_ms: int = setting(
        "controller.quorum.election.backoff.max.ms",
        INT,
        1 * SECOND,
        "The longest pause after an election that nobody has won.",
        least=1,
    )
    controller_quorum_fetch_timeout_ms: int = setting(
        "controller.quorum.fetch.timeout.ms",
        INT,
        2 * SECOND,
        "How long a voter goes on without hearing of its leader before it would have another, and how long a leader "
        "goes on without hearing of a majority.",
        least=4,
    )
    controller_quorum_request_timeout_ms: int = setting(
        "controller.quorum.request.timeout.ms",
        INT,
        2 * SECOND,
        "How long an answer of another node of the quorum is waited for.",
        least=1,
    )
    controller_quorum_retry_backoff_ms: int = setting(
        "controller.quorum.retry.backoff.ms",
        INT,
        20,
        "How long to wait before a request of the quorum is tried again.",
        least=1,
    )
