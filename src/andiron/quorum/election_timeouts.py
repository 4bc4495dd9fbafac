"""How long a voter waits: for its leader, for votes, and between two elections.

Timeouts of elections are drawn anew each time (from a seed, model/chance.py), so that two voters who stand at once do
not go on doing so. A leader's and a follower's are those of the settings.

Read next: settings.py, quorum.py.
"""

from __future__ import annotations

from andiron.model.chance import Chance
from andiron.quorum.settings import QuorumSettings


class ElectionTimeouts:
    """The timeouts of one voter, in milliseconds."""

    def __init__(self, settings: QuorumSettings, chance: Chance) -> None:
        self._election_ms = settings.controller_quorum_election_timeout_ms
        self._backoff_ms_max = settings.controller_quorum_election_backoff_max_ms
        self.fetch_ms = settings.controller_quorum_fetch_timeout_ms
        self._chance = chance

    def election_ms(self) -> int:
        """How long a voter that knows no leader, or a candidate, waits before it asks for votes: once or twice
        controller.quorum.election.timeout.ms."""
        return self._election_ms + self._chance.below(self._election_ms)

    def moment_ms(self) -> int:
        """How soon a voter whose leader cannot be reached asks for pre-votes (KIP-996): they cost nobody an epoch."""
        return self._chance.below(max(1, self._election_ms // 4)) + 1

    def backoff_ms(self) -> int:
        """How long a voter that was rejected waits before it asks again: at most
        controller.quorum.election.backoff.max.ms."""
        return self._chance.below(self._backoff_ms_max) + 1

    def successor_ms(self, place: int) -> int:
        """How long a voter leaves the election to those whom a leader that resigned would rather have: the first of
        them has place 0."""
        return self._backoff_ms_max * place // 4 + 1

    @property
    def check_ms(self) -> int:
        """How often a leader looks whether a majority of the voters still fetches."""
        return self.fetch_ms // 2

    @property
    def majority_ms(self) -> int:
        """How long a leader goes on without a fetch from a majority, as Kafka does: half as long again as a follower
        goes on without its leader."""
        return self.fetch_ms * 3 // 2
