"""Errors that travel: Kafka's codes, and what their receiver should do.

The class of an exception says what to do about it, its code says what happened.
Machines raise `ErrorCode.X.error(...)`; the handlers in `broker/` turn an exception
into a number, and `client/` is the one place that turns it back.

    raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"{partition} is led by {leader}")
"""

from __future__ import annotations

import enum
from typing import Any


class AndironError(Exception):
    """Everything andiron raises on purpose."""


class ProtocolError(AndironError):
    """An answer that carries a Kafka error code."""

    def __init__(self, code: ErrorCode, detail: str = "") -> None:
        super().__init__(f"{code.name}: {detail or code.meaning}")
        self.code = code
        self.detail = detail or code.meaning

    def __reduce__(self) -> tuple[Any, ...]:
        """Exceptions are remade from their message when they cross between processes; this has two parts."""
        return type(self), (self.code, self.detail)


class Refused(ProtocolError):
    """The request is wrong or not allowed: change it before sending it again."""


class Retriable(ProtocolError):
    """Nothing is wrong with the request: send it again after a backoff."""


class StaleMetadata(Retriable):
    """It went to the wrong broker: refresh metadata, then send it again."""


class Fenced(ProtocolError):
    """A newer incarnation has taken over: stop."""


class ErrorCode(enum.Enum):
    """Kafka's table, one row a code: number, remedy, meaning."""

    def __init__(self, number: int, remedy: type[ProtocolError] | None, meaning: str) -> None:
        self.number, self.remedy, self.meaning = number, remedy, meaning

    UNKNOWN_SERVER_ERROR = -1, Refused, "the broker failed in a way it did not foresee"
    NONE = 0, None, "success"
    OFFSET_OUT_OF_RANGE = 1, Refused, "no such offset in the log"
    CORRUPT_MESSAGE = 2, Retriable, "a batch fails its checksum or is not whole"
    UNKNOWN_TOPIC_OR_PARTITION = 3, StaleMetadata, "no such topic or partition here"
    INVALID_FETCH_SIZE = 4, Refused, "the fetch size is not valid"
    LEADER_NOT_AVAILABLE = 5, StaleMetadata, "the partition has no leader at the moment"
    NOT_LEADER_OR_FOLLOWER = 6, StaleMetadata, "another broker leads this partition"
    REQUEST_TIMED_OUT = 7, Retriable, "not done within the time the request allowed"
    BROKER_NOT_AVAILABLE = 8, Refused, "the broker is not available"
    REPLICA_NOT_AVAILABLE = 9, StaleMetadata, "the replica is not available here"
    MESSAGE_TOO_LARGE = 10, Refused, "a batch is larger than max.message.bytes"
    STALE_CONTROLLER_EPOCH = 11, Refused, "the controller has moved to a later epoch"
    OFFSET_METADATA_TOO_LARGE = 12, Refused, "the metadata string of an offset is too long"
    NETWORK_EXCEPTION = 13, StaleMetadata, "the connection was lost before the answer came"
    COORDINATOR_LOAD_IN_PROGRESS = 14, Retriable, "the coordinator is still reading its log"
    COORDINATOR_NOT_AVAILABLE = 15, StaleMetadata, "there is no coordinator at the moment"
    NOT_COORDINATOR = 16, StaleMetadata, "another broker coordinates this"
    INVALID_TOPIC_EXCEPTION = 17, Refused, "that is not a name a topic may have"
    RECORD_LIST_TOO_LARGE = 18, Refused, "the records are larger than a segment"
    NOT_ENOUGH_REPLICAS = 19, Retriable, "fewer in sync than min.insync.replicas"
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20, Retriable, "written, but to fewer than min.insync.replicas"
    INVALID_REQUIRED_ACKS = 21, Refused, "acks must be 0, 1 or -1"
    ILLEGAL_GENERATION = 22, Refused, "the group has moved to another generation"
    INCONSISTENT_GROUP_PROTOCOL = 23, Refused, "no protocol in common with the group"
    INVALID_GROUP_ID = 24, Refused, "that is not an id a group may have"
    UNKNOWN_MEMBER_ID = 25, Refused, "the group knows no such member"
    INVALID_SESSION_TIMEOUT = 26, Refused, "the session timeout is outside the broker's bounds"
    REBALANCE_IN_PROGRESS = 27, Refused, "the group is rebalancing: join again"
    INVALID_COMMIT_OFFSET_SIZE = 28, Refused, "the commit is too large"
    TOPIC_AUTHORIZATION_FAILED = 29, Refused, "not allowed on this topic"
    GROUP_AUTHORIZATION_FAILED = 30, Refused, "not allowed on this group"
    CLUSTER_AUTHORIZATION_FAILED = 31, Refused, "not allowed on this cluster"
    INVALID_TIMESTAMP = 32, Refused, "a timestamp is outside the topic's limits"
    UNSUPPORTED_SASL_MECHANISM = 33, Refused, "the broker has no such SASL mechanism"
    ILLEGAL_SASL_STATE = 34, Refused, "the request is out of turn in this SASL session"
    UNSUPPORTED_VERSION = 35, Refused, "the broker does not speak this version of the API"
    TOPIC_ALREADY_EXISTS = 36, Refused, "there is a topic of that name already"
    INVALID_PARTITIONS = 37, Refused, "the number of partitions is not valid"
    INVALID_REPLICATION_FACTOR = 38, Refused, "the replication factor is not valid"
    INVALID_REPLICA_ASSIGNMENT = 39, Refused, "the replica assignment is not valid"
    INVALID_CONFIG = 40, Refused, "a configuration is not valid"
    NOT_CONTROLLER = 41, StaleMetadata, "another node is the active controller"
    INVALID_REQUEST = 42, Refused, "the request contradicts itself or the protocol"
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43, Refused, "the message format does not support this"
    POLICY_VIOLATION = 44, Refused, "a policy of the broker forbids this"
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45, Refused, "a sequence number was skipped"
    DUPLICATE_SEQUENCE_NUMBER = 46, Refused, "the sequence was written before, its offset forgotten"
    INVALID_PRODUCER_EPOCH = 47, Fenced, "a newer producer has the same id"
    INVALID_TXN_STATE = 48, Refused, "the transaction is not in a state for this"
    INVALID_PRODUCER_ID_MAPPING = 49, Refused, "the transactional id has another producer id"
    INVALID_TRANSACTION_TIMEOUT = 50, Refused, "the timeout exceeds transaction.max.timeout.ms"
    CONCURRENT_TRANSACTIONS = 51, Retriable, "the last transaction is still being completed"
    TRANSACTION_COORDINATOR_FENCED = 52, Fenced, "another coordinator has taken over"
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53, Refused, "not allowed to use this transactional id"
    SECURITY_DISABLED = 54, Refused, "no authorizer is configured"
    OPERATION_NOT_ATTEMPTED = 55, Refused, "not tried: an earlier part of the request failed"
    KAFKA_STORAGE_ERROR = 56, StaleMetadata, "the disk failed; the reason is in the broker's log"
    LOG_DIR_NOT_FOUND = 57, Refused, "the broker has no such log directory"
    SASL_AUTHENTICATION_FAILED = 58, Refused, "the credentials are not right"
    UNKNOWN_PRODUCER_ID = 59, Refused, "nothing is known of this producer id"
    REASSIGNMENT_IN_PROGRESS = 60, Refused, "the partition is being reassigned"
    DELEGATION_TOKEN_AUTH_DISABLED = 61, Refused, "delegation tokens are not enabled"
    DELEGATION_TOKEN_NOT_FOUND = 62, Refused, "there is no such delegation token"
    DELEGATION_TOKEN_OWNER_MISMATCH = 63, Refused, "the delegation token belongs to another"
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64, Refused, "not allowed on this connection"
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65, Refused, "not allowed on this delegation token"
    DELEGATION_TOKEN_EXPIRED = 66, Refused, "the delegation token has expired"
    INVALID_PRINCIPAL_TYPE = 67, Refused, "the principal type is not supported"
    NON_EMPTY_GROUP = 68, Refused, "the group has members"
    GROUP_ID_NOT_FOUND = 69, Refused, "there is no such group"
    FETCH_SESSION_ID_NOT_FOUND = 70, Retriable, "there is no such fetch session"
    INVALID_FETCH_SESSION_EPOCH = 71, Retriable, "the fetch session is at another epoch"
    LISTENER_NOT_FOUND = 72, StaleMetadata, "the leader has no listener of this name"
    TOPIC_DELETION_DISABLED = 73, Refused, "delete.topic.enable is false"
    FENCED_LEADER_EPOCH = 74, StaleMetadata, "the request names an older leader epoch"
    UNKNOWN_LEADER_EPOCH = 75, Retriable, "the request names a newer leader epoch than known here"
    UNSUPPORTED_COMPRESSION_TYPE = 76, Refused, "this version may not carry that compression"
    STALE_BROKER_EPOCH = 77, Refused, "the broker has registered anew since"
    OFFSET_NOT_AVAILABLE = 78, Retriable, "the new leader has not caught up to its watermark yet"
    MEMBER_ID_REQUIRED = 79, Refused, "join again with the member id just given"
    PREFERRED_LEADER_NOT_AVAILABLE = 80, Retriable, "the preferred leader is not available"
    GROUP_MAX_SIZE_REACHED = 81, Refused, "the group is full"
    FENCED_INSTANCE_ID = 82, Fenced, "another member has the same group.instance.id"
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83, Retriable, "no eligible leader is available"
    ELECTION_NOT_NEEDED = 84, Refused, "the partition has the leader it should have"
    NO_REASSIGNMENT_IN_PROGRESS = 85, Refused, "the partition is not being reassigned"
    GROUP_SUBSCRIBED_TO_TOPIC = 86, Refused, "the group is subscribed to the topic"
    INVALID_RECORD = 87, Refused, "a record is not valid here"
    UNSTABLE_OFFSET_COMMIT = 88, Retriable, "a transaction on these offsets is still open"
    THROTTLING_QUOTA_EXCEEDED = 89, Retriable, "the quota is used up"
    PRODUCER_FENCED = 90, Fenced, "a newer producer holds this transactional id"
    RESOURCE_NOT_FOUND = 91, Refused, "there is no such resource"
    DUPLICATE_RESOURCE = 92, Refused, "the resource is named twice"
    UNACCEPTABLE_CREDENTIAL = 93, Refused, "the credential is not acceptable"
    INCONSISTENT_VOTER_SET = 94, Refused, "the voters disagree on who votes"
    INVALID_UPDATE_VERSION = 95, Refused, "the update names a version that has passed"
    FEATURE_UPDATE_FAILED = 96, Refused, "the features could not be updated"
    PRINCIPAL_DESERIALIZATION_FAILURE = 97, Refused, "the forwarded principal is not readable"
    SNAPSHOT_NOT_FOUND = 98, Refused, "there is no such snapshot"
    POSITION_OUT_OF_RANGE = 99, Refused, "the snapshot has no such position"
    UNKNOWN_TOPIC_ID = 100, StaleMetadata, "no topic has this id"
    DUPLICATE_BROKER_REGISTRATION = 101, Refused, "a live broker has the same id"
    BROKER_ID_NOT_REGISTERED = 102, Refused, "no broker of this id is registered"
    INCONSISTENT_TOPIC_ID = 103, StaleMetadata, "the log here belongs to another topic id"
    INCONSISTENT_CLUSTER_ID = 104, Refused, "the request is meant for another cluster"
    TRANSACTIONAL_ID_NOT_FOUND = 105, Refused, "there is no such transactional id"
    FETCH_SESSION_TOPIC_ID_ERROR = 106, Retriable, "the fetch session mixes topic names and ids"
    INELIGIBLE_REPLICA = 107, Refused, "a proposed replica may not join the ISR"
    NEW_LEADER_ELECTED = 108, StaleMetadata, "the change elected another leader"
    OFFSET_MOVED_TO_TIERED_STORAGE = 109, Refused, "the offset is in tiered storage"
    FENCED_MEMBER_EPOCH = 110, Fenced, "the coordinator has fenced this member: join again"
    UNRELEASED_INSTANCE_ID = 111, Refused, "the group.instance.id is still in use"
    UNSUPPORTED_ASSIGNOR = 112, Refused, "the broker has no such assignor"
    STALE_MEMBER_EPOCH = 113, Refused, "the member must take its new epoch first"
    MISMATCHED_ENDPOINT_TYPE = 114, Refused, "the request went to the wrong kind of endpoint"
    UNSUPPORTED_ENDPOINT_TYPE = 115, Refused, "there is no such kind of endpoint"
    UNKNOWN_CONTROLLER_ID = 116, Refused, "no such controller"
    UNKNOWN_SUBSCRIPTION_ID = 117, Refused, "no such telemetry subscription"
    TELEMETRY_TOO_LARGE = 118, Refused, "the telemetry is too large"
    INVALID_REGISTRATION = 119, Refused, "the registration is not valid"
    TRANSACTION_ABORTABLE = 120, Refused, "abort the transaction, then go on"
    INVALID_RECORD_STATE = 121, Refused, "the record is not in a state for this"
    SHARE_SESSION_NOT_FOUND = 122, Retriable, "there is no such share session"
    INVALID_SHARE_SESSION_EPOCH = 123, Retriable, "the share session is at another epoch"
    FENCED_STATE_EPOCH = 124, Fenced, "the share state is at a later epoch"
    INVALID_VOTER_KEY = 125, Refused, "the voter key does not fit the receiver"
    DUPLICATE_VOTER = 126, Refused, "the voter is in the set already"
    VOTER_NOT_FOUND = 127, Refused, "the voter is not in the set"
    INVALID_REGULAR_EXPRESSION = 128, Refused, "the regular expression is not valid"
    REBOOTSTRAP_REQUIRED = 129, StaleMetadata, "start again from the bootstrap servers"

    def error(self, detail: str = "") -> ProtocolError:
        """The exception for this code; raise what it returns."""
        assert self.remedy is not None, "success is not an error"
        return self.remedy(self, detail)

    @classmethod
    def of(cls, number: int) -> ErrorCode:
        """The row of a number read off the wire; numbers we do not know are unknown errors."""
        return _BY_NUMBER.get(number, cls.UNKNOWN_SERVER_ERROR)


_BY_NUMBER = {code.number: code for code in ErrorCode}
