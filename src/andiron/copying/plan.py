"""The plan of one topic: what is created on the target, with which settings, and what refuses the copy.

    source: partitions, replicas, settings ─┐
                                            ├──▶ TopicPlan: create, go on, or a refusal in one line
    target: the topic, if it is there ──────┘

Settings that the topic has of its own go with it, and those that decide what is kept and taken even where the source's
brokers have them for all topics. Left out are those that would be wrong there, or refuse what the source once took:
each is named, so that it can be set when producers move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from andiron.client.core.descriptions import Config
from andiron.client.core.metadata import Topic
from andiron.model.layers import Source

TIMESTAMP_TYPE, APPEND_TIME = "message.timestamp.type", "LogAppendTime"
POLICY, IN_SYNC, REMOTE = "cleanup.policy", "min.insync.replicas", "remote.storage.enable"
MESSAGE_BYTES = "max.message.bytes"

# Of the source's brokers and not of its topics, or a rule for what producers may send now.
_LEFT_OUT = {
    "follower.replication.throttled.replicas": "it names brokers of the source",
    "leader.replication.throttled.replicas": "it names brokers of the source",
    "message.timestamp.before.max.ms": "old records would be refused",
    "message.timestamp.after.max.ms": "records from the future would be refused",
    "message.timestamp.difference.max.ms": "old records would be refused",
}
# Settings of retention, compaction and size, which must not depend on the target brokers' defaults.
_EVEN_OF_BROKERS = (POLICY, "retention.ms", "retention.bytes", MESSAGE_BYTES)


class TopicFacts(NamedTuple):
    """Partitions, replicas, settings and offsets of a topic in one of the clusters."""

    topic: Topic
    configs: dict[str, Config]
    starts: dict[int, int]
    ends: dict[int, int]

    @property
    def records_at_most(self) -> int:
        """The number of offsets in all partitions, of which compaction may have left fewer records."""
        return sum(self.ends[at] - self.starts[at] for at in self.ends)

    def value(self, name: str) -> str:
        """A setting as it is in force; empty where there is none."""
        found = self.configs.get(name)
        return (found.value or "") if found is not None else ""


class KnownTopic(NamedTuple):
    """What an earlier run has noted of the topic on the target; None if nothing."""

    source_id: str | None = None


@dataclass
class TopicPlan:
    """The plan for one topic: create it, go on with it, or refuse, and settings that are left out."""

    name: str
    partitions: int
    replication_factor: int
    create: bool
    grow: bool = False
    resumed: bool = False
    configs: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    refusal: str = ""


def plan_topic(
    source: TopicFacts,
    target: TopicFacts | None,
    known: KnownTopic,
    brokers: int,
    understood: frozenset[str] | None = None,
    replication_factor: int | None = None,
) -> TopicPlan:
    """How a topic comes to the target, which has so many `brokers` and understands these settings, if it told."""
    partitions, replicas = len(source.topic.partitions), len(source.topic.partitions[0].replicas)
    wanted = min(replication_factor or replicas, brokers)
    plan = TopicPlan(source.topic.name, partitions, wanted, create=target is None)
    if target is not None:
        _check_target(plan, source, target, known)
        return plan
    if wanted < (replication_factor or replicas):
        plan.notes.append(f"replicas: {wanted} in place of {replication_factor or replicas}")
    plan.configs = _configs(plan, source, understood)
    return plan


def _check_target(plan: TopicPlan, source: TopicFacts, target: TopicFacts, known: KnownTopic) -> None:
    name, there = plan.name, len(target.topic.partitions)
    plan.resumed = known.source_id is not None
    foreign = [at for at, end in sorted(target.ends.items()) if end > target.starts[at]]
    if plan.resumed and known.source_id != source.topic.id_text:
        plan.refusal = (
            f"{name} was deleted on the source and made anew since it was copied; delete it on the target too"
        )
    elif not plan.resumed and foreign:
        plan.refusal = (
            f"{name} is on the target already, with records that no copy from this source has written "
            f"(partition {foreign[0]}); delete it there, or leave it out with --exclude"
        )
    elif there < plan.partitions and not plan.resumed:
        plan.refusal = (
            f"{name} has {there} partitions on the target and {plan.partitions} on the source; "
            f"give it as many: andiron topic alter {name} --partitions {plan.partitions}"
        )
    elif target.value(TIMESTAMP_TYPE) == APPEND_TIME:
        plan.refusal = (
            f"{name} has {TIMESTAMP_TYPE}={APPEND_TIME} on the target, by which every record would be of now; "
            f"andiron config set topic {name} {TIMESTAMP_TYPE}=CreateTime"
        )
    plan.grow = not plan.refusal and there < plan.partitions
    if there > plan.partitions:
        plan.notes.append(f"{there} partitions on the target: keys will go elsewhere than on the source")
    if not plan.resumed:
        differing = [key for key in _own(source) if source.value(key) != target.value(key)]
        if differing:
            plan.notes.append(f"was there, with other settings: {', '.join(differing)}")


def _own(source: TopicFacts) -> dict[str, str]:
    return {
        name: each.value or ""
        for name, each in sorted(source.configs.items())
        if each.source == Source.TOPIC or (name in _EVEN_OF_BROKERS and not each.is_default)
    }


def _configs(plan: TopicPlan, source: TopicFacts, understood: frozenset[str] | None) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name, value in _own(source).items():
        why = _why_left_out(name, value, plan.replication_factor, understood)
        if why:
            plan.notes.append(f"without {name}={value}: {why}")
        else:
            kept[name] = value
    return kept


def _why_left_out(name: str, value: str, replicas: int, understood: frozenset[str] | None) -> str:
    if name == TIMESTAMP_TYPE and value == APPEND_TIME:
        return "records keep their times; set it when producers move"
    if name == IN_SYNC and value.isdecimal() and int(value) > replicas:
        return f"there are {replicas} replicas"
    if name == REMOTE and value == "true":
        return "the target may have no remote storage"
    if understood is not None and name not in understood:
        return "the target does not know it"
    return _LEFT_OUT.get(name, "")


def deletes(configs: Mapping[str, Config]) -> bool:
    """Whether records of the topic can be deleted from its beginning on."""
    found = configs.get(POLICY)
    return "delete" in ((found.value or "delete") if found is not None else "delete")
