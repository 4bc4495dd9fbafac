"""The topics and groups that are copied: names and shell patterns, without internal topics.

    andiron copy 'orders*' clicks --exclude '*-test'

Internal topics are the cluster's own bookkeeping: offsets of groups, transactions, and what copies and mirrors note.
They would be wrong on another cluster, whose coordinators keep books of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from andiron.client.core.metadata import Topic
from andiron.copying.errors import CopyError

STATE_TOPIC = "__andiron_copy"
# Kept by brokers and by tools, under names that they reserve; Kafka marks only its own as internal.
RESERVED = (
    STATE_TOPIC,
    "__consumer_offsets",
    "__transaction_state",
    "__share_group_state",
    "__cluster_metadata",
    "__remote_log_metadata",
    "andiron.spark.commits",  # names transactions of its cluster
    "mm2-*.internal",
    "*.checkpoints.internal",
)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name is one of these, or like one of these patterns (*, ?, [abc])."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def is_internal(topic: Topic) -> bool:
    """Whether a topic is internal: of the brokers, of MirrorMaker, or of Andiron's own tools."""
    return topic.internal or matches(topic.name, RESERVED)


def is_chosen(topic: Topic, patterns: Sequence[str], excluded: Sequence[str]) -> bool:
    """Whether a topic is to be copied; without a pattern all are."""
    wanted = matches(topic.name, patterns or ("*",)) and not matches(topic.name, excluded)
    return wanted and not is_internal(topic)


def check_patterns(there: Iterable[Topic], patterns: Iterable[str]) -> None:
    """Refuse a pattern that no topic matches, and the name of an internal topic."""
    known = list(there)
    for pattern in patterns:
        like = [each for each in known if fnmatchcase(each.name, pattern)]
        if not like:
            raise CopyError(f"the source has no topic {pattern!r}; `andiron topic list` shows what there is")
        if any(each.name == pattern and is_internal(each) for each in like):
            raise CopyError(f"{pattern} is internal to its cluster, and would be wrong on another")
