"""What a client may do to a topic, a group and the cluster, as bits numbered like Kafka's operations.

There is no authorizer, so everyone may do everything, and that is what whoever asks is told.
"""

from __future__ import annotations

READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION = range(3, 10)
DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = range(10, 13)

ON_TOPICS = sum(
    1 << operation
    for operation in (READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS)
)
ON_GROUPS = sum(1 << operation for operation in (READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS))
ON_THE_CLUSTER = sum(
    1 << operation
    for operation in (
        CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE,
    )
)  # fmt: skip
