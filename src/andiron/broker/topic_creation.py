"""Topics that a broker has made for somebody: a client that asks for them, or a coordinator that lives in them.

    CreateTopics ─▶ the controller, wherever it is ─▶ its answer ┄┄ until the topics are known here too ┄▶ the client

The controller answers when a majority has the topic; this broker reads of it a moment later. A client that is told
before that would ask here for what is not known yet, so its answer waits for that moment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from andiron.broker.broker import Broker
from andiron.broker.internal_topics import internal_topic
from andiron.broker.waiting import Wait
from andiron.model.ids import Millis
from andiron.wire.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse

SEEN_MS = 2_000  # for what the controller has decided to be known here

T = TypeVar("T")


def create_internal(broker: Broker, topic: str, now: Millis) -> Wait:
    """Make a topic that a coordinator needs; whether that worked is seen by its being there."""
    return broker.decide(CreateTopicsRequest([internal_topic(topic, broker.settings)]), now)


def until_created(broker: Broker, answer: CreateTopicsResponse, respond: Callable[[], T]) -> T | Wait:
    """What `respond` says once the topics that the controller has made are known here, as they will be at once."""
    made = [topic.name for topic in answer.topics if not topic.error_code]

    def are_here() -> bool:
        return all(name in broker.image.topics for name in made)

    if are_here():
        return respond()
    return Wait((broker.metadata.partition,), are_here, Millis(broker.now + SEEN_MS), respond, respond)
