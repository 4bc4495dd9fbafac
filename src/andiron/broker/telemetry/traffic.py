"""What went through a topic: plain counters that only grow, kept where the bytes pass.

    Produce ─▶ Partition.append ─▶ bytes in, messages in          Fetch ─▶ bytes out
    another leader's log ─▶ Fetcher ─▶ replicated in              a follower's Fetch ─▶ replicated out
    a partition that was answered with an error ─▶ failed, by error

Every partition has the counters of its topic at hand, so to count is to add to an attribute: nothing is looked up on
the way of a request, and no clock is read. Messages are counted by the header of their batch, which is not opened.

What failed is counted under the topic only if there is one of that name: whoever asks for topics that do not exist must
not fill the memory of those who count.

Read next: stats.py, which gathers this and more; edge/metrics/ publishes it.
"""

from __future__ import annotations

from andiron.controller.image import Image


class TopicTraffic:
    """One topic's traffic at this node since it started."""

    __slots__ = (
        "bytes_in", "bytes_out", "failed_fetches", "failed_produces", "messages_in", "replicated_in", "replicated_out",
    )  # fmt: skip

    def __init__(self) -> None:
        self.bytes_in = self.messages_in = self.bytes_out = 0
        self.replicated_in = self.replicated_out = 0
        self.failed_produces: dict[str, int] = {}  # partitions of requests, by the name of the error
        self.failed_fetches: dict[str, int] = {}


class Traffic:
    """The traffic of all topics by name."""

    def __init__(self) -> None:
        self._topics: dict[str, TopicTraffic] = {}
        self.unknown = TopicTraffic()  # of topics that do not exist

    def of(self, topic: str) -> TopicTraffic:
        """The counters of a topic that has, or had, a partition here."""
        found = self._topics.get(topic)
        if found is None:
            found = self._topics[topic] = TopicTraffic()
        return found

    def asked_for(self, topic: str, topic_id: bytes, image: Image) -> TopicTraffic:
        """The counters of a topic that a request names, or else identifies; one for all that do not exist."""
        found = image.topics.get(topic) if topic else image.topics_by_id.get(topic_id)
        return self.unknown if found is None else self.of(found.name)

    def forget(self, topic: str) -> None:
        """It is deleted. A topic of that name that comes later begins at nothing."""
        self._topics.pop(topic, None)

    def topics(self) -> list[tuple[str, TopicTraffic]]:
        """All there are; those of unknown topics have no name."""
        return [*self._topics.items(), ("", self.unknown)]


def count(failures: dict[str, int], error: str) -> None:
    """One more that failed for this reason."""
    failures[error] = failures.get(error, 0) + 1
