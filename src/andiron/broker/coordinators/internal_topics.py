"""The topics in which the cluster keeps what its coordinators know, made when they are first needed.

They are ordinary topics, compacted so that the latest state of each key stays; clients may read them, and
only an administrator's client may write.
"""

from __future__ import annotations

from andiron.broker.coordinators.group_coordinator import TOPIC as OFFSETS
from andiron.broker.coordinators.transaction_coordinator import TOPIC as TRANSACTIONS
from andiron.broker.settings.node_settings import NodeSettings
from andiron.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig

ADMIN_CLIENT_ID = "__admin_client"  # as Kafka's own tools call themselves where they mend such a topic
INTERNAL = frozenset({OFFSETS, TRANSACTIONS})


def internal_topic(name: str, settings: NodeSettings) -> CreatableTopic:
    """What to ask of the controller so that an internal topic is there."""
    if name == OFFSETS:
        groups = settings.groups
        return _topic(
            name,
            groups.offsets_topic_num_partitions,
            groups.offsets_topic_replication_factor,
            {
                "cleanup.policy": "compact",
                "compression.type": "producer",
                "segment.bytes": str(groups.offsets_topic_segment_bytes),
            },
        )
    transactions = settings.transactions
    return _topic(
        name,
        transactions.transaction_state_log_num_partitions,
        transactions.transaction_state_log_replication_factor,
        {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": str(transactions.transaction_state_log_min_isr),
            "segment.bytes": str(transactions.transaction_state_log_segment_bytes),
            "unclean.leader.election.enable": "false",  # whatever brokers say: decisions may not be lost
        },
    )


def _topic(name: str, partitions: int, replicas: int, configs: dict[str, str]) -> CreatableTopic:
    return CreatableTopic(
        name, partitions, replicas, configs=[CreatableTopicConfig(key, text) for key, text in configs.items()]
    )
