"""The kinds of members there are: which client, which assignor, which protocol.

A kind is incremental if only what moves is asked back; the others give back everything at each rebalance.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

RANGE, ROUND_ROBIN, STICKY, COOPERATIVE, UNIFORM = (
    "range",
    "roundrobin",
    "sticky",
    "cooperative-sticky",
    "uniform",
)
CLIENTS = ("confluent", "kafka_python", "aiokafka", "java")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a member is made of; in the new protocol (`consumer`) the assignor is the broker's."""

    client: str
    assignor: str
    protocol: str = "classic"

    @property
    def incremental(self) -> bool:
        return self.protocol == "consumer" or self.assignor == COOPERATIVE

    @property
    def sticky(self) -> bool:
        """Whether a partition stays where it is unless balance demands otherwise; two libraries only try."""
        tries = self.client in ("kafka_python", "aiokafka")
        return self.assignor in (STICKY, COOPERATIVE, UNIFORM) and not tries

    def __str__(self) -> str:
        return f"{self.client}-{'new-' if self.protocol == 'consumer' else ''}{self.assignor}"


# librdkafka has no eager sticky assignor, aiokafka no cooperative one; two speak the new protocol.
CLASSIC = [
    *(Kind("confluent", assignor) for assignor in (RANGE, ROUND_ROBIN, COOPERATIVE)),
    *(Kind("kafka_python", assignor) for assignor in (RANGE, ROUND_ROBIN, STICKY, COOPERATIVE)),
    *(Kind("aiokafka", assignor) for assignor in (RANGE, ROUND_ROBIN, STICKY)),
    *(Kind("java", assignor) for assignor in (RANGE, ROUND_ROBIN, STICKY, COOPERATIVE)),
]
NEW = [
    Kind(client, assignor, "consumer") for client in ("confluent", "java") for assignor in (UNIFORM, RANGE)
]

# One of each client and protocol, for what does not depend on the assignor.
SOME = [
    Kind("confluent", COOPERATIVE),
    Kind("kafka_python", RANGE),
    Kind("aiokafka", STICKY),
    Kind("java", COOPERATIVE),
    Kind("confluent", UNIFORM, "consumer"),
    Kind("java", UNIFORM, "consumer"),
]


def each(kinds: list[Kind]) -> pytest.MarkDecorator:
    """Run a test once for every kind."""
    return pytest.mark.parametrize("kind", kinds, ids=str)
