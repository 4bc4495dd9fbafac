"""How long a node waits, for what, and why so long: every duration of the broker's that is no setting.

Three sizes come back. Tens of milliseconds, where a client waits behind it and the next try costs one message; a
second, where a disk or another node has refused and nothing is lost by a pause; half a minute, where an answer is
waited for that a client's own timeout bounds first (request.timeout.ms is 30 s). Kafka's name stands beside what
Kafka has.

A module takes its own from here. What people may want to change is a setting, and in the tables of settings.
"""

from __future__ import annotations

# ── the controller is asked ──────────────────────────────────────────────────────────

CONTROLLER_RETRY_MS = 50  # nobody leads, or another was asked: clients wait; Kafka: retry.backoff.ms, 100
CONTROLLER_CALL_MS = 5_000  # one try of a request of the broker's own, which finds a dead controller out
CONTROLLER_DECISION_MS = 30_000  # a request that brings no timeout of its own; controller.socket.timeout.ms
TOPIC_CREATION_MS = 30_000  # a topic created because it is asked for: who asks has a timeout of his own
TOPIC_KNOWN_MS = 2_000  # from the controller's decision on a topic until it is committed and known here
ALTER_PARTITION_MS = 30_000  # AlterPartition, for as long as the controller may be elected anew
ALTER_PARTITION_RETRY_MS = 500  # a refused ISR is proposed again: followers have fetched once more
ASSIGN_DIRECTORIES_MS = 30_000  # AssignReplicasToDirs (KIP-858): nothing waits for it
CONTROLLER_REGISTRATION_MS = 30_000  # ControllerRegistration (KIP-919): nothing waits for it
CONTROLLER_REGISTRATION_RETRY_MS = 1_000  # and so it is not asked often

# ── a broker's lifecycle ─────────────────────────────────────────────────────────────

LIFECYCLE_RETRY_MS = 200  # a heartbeat without an answer is sent again, long before its session ends
LEAVING_MS = 100  # between heartbeats of a broker in controlled shutdown: whoever stops it waits
LEAVING_ALONE_MS = 3_000  # after which one that finds no controller leaves without a word
OBSERVER_BACK_MS = 500  # for a broker whose connection broke to come back, before it is fenced (decision 14)
OBSERVER_FIRST_MS = 1_000  # for all brokers, to find a controller that has just taken over

# ── the metadata quorum ──────────────────────────────────────────────────────────────

METADATA_RETRY_MS = 1_000  # what the controller could not write: room on a disk is not made faster
QUORUM_POSTPONED_MS = 1_000  # quorum-state could not be written: the same
QUORUM_REFUSED_MS = 1_000  # a node that will have nothing to do with this one is asked again
SNAPSHOT_REFUSED_MS = 1_000  # nothing came of a snapshot: records are asked for again
SNAPSHOT_RETRY_MS = 60_000  # the disk would not take a snapshot, which is large and can wait
VOTER_LOOK_MS = 50  # between looks at a node that catches up to vote (KIP-853): somebody waits
OBSERVER_SESSION_MS = 300_000  # an observer that has not fetched is forgotten; OBSERVER_SESSION_TIMEOUT_MS
DESCRIBE_QUORUM_MS = 3_000  # DescribeQuorum while nobody leads: who asks should hear of it soon

# ── coordinators ─────────────────────────────────────────────────────────────────────

COORDINATOR_RETRY_MS = 1_000  # what is due, or to be loaded, waits for a disk that would not take or give it
COORDINATOR_CALL_MS = 10_000  # AddPartitionsToTxn to another broker, for a producer that waits with a batch
TRANSACTION_DECISION_MS = 30_000  # a transaction's record, to be committed in
MARKER_MS = 30_000  # a transaction marker, to be committed in; the coordinator tries again
MARKER_RETRY_MS = 100  # markers again: readers of read_committed wait behind an open transaction

# ── replicas ─────────────────────────────────────────────────────────────────────────

FETCHER_RETRY_MS = 50  # a leader without an answer may be gone, and the metadata will say so; Kafka: 1 s
MOVE_PAUSE_MS = 100  # a replica that moves between directories, where its quota is spent
MOVE_RESUME_MS = 1_000  # after the start, until partitions are open
FETCH_SESSION_IDLE_MS = 120_000  # a fetch session may be evicted; MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS
FLUSH_AGAIN_MS = 1_000  # an fsync that could not begin
OPEN_AGAIN_MS = 1_000  # logs that would not open, a few of them: a full disk may have room by then
FIRST_ROUND_MS = 30_000  # of retention and compaction after the start: recovery has the disk until then

# ── the log of the node ───────────────────────────────────────────────────────────────

LOG_LIMIT_MS = 60_000  # the same complaint in the log once a minute
