"""Which topics the members of a classic group read, as far as their bytes say.

To the classic protocol a subscription is opaque, and clients of other types than "consumer" (Connect's workers, for
one) put something else there. Where it can be read it is worth reading: the offsets of topics that nobody reads any
more may expire, and those of topics that somebody reads must not be deleted.

Only the topics are looked at, which every version begins with. Some clients say a version and leave out what it
added; their groups work, so they are no reason to look away.
"""

from __future__ import annotations

import struct as structs
from collections.abc import Iterable

from andiron.wire.codec import decoder
from andiron.wire.consumer_protocol import Subscription
from andiron.wire.primitives import MalformedMessage

_VERSION = structs.Struct(">h")


def subscribed_topics(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """The topics that any of these names; None if one of them cannot be read."""
    topics: set[str] = set()
    try:
        for subscription in subscriptions:
            topics.update(_topics(subscription))
    except MalformedMessage:
        return None
    return frozenset(topics)


def _topics(subscription: bytes) -> list[str]:
    if len(subscription) < _VERSION.size or _VERSION.unpack_from(subscription)[0] < 0:
        raise MalformedMessage("a subscription begins with its version")
    return decoder(Subscription, 0)(subscription, _VERSION.size, len(subscription))[0].topics
