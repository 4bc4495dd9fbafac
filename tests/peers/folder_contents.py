"""What is in a data folder, as whoever serves it tells clients; and the hands that fill one.

    furnish          what every server keeps: topics with settings, records, groups, transactional ids
    furnish_more     what Kafka alone serves: share and streams groups, quotas, credentials
    look             all of it, by name, in plain values: two looks at one folder can be compared
    look_closer      what Kafka alone can tell of it
    leave_a_trace    a little of everything, so that whoever opens the folder next finds another's work in it
    commit_prepared  the transaction that the first one left prepared is decided by the last

A log is compared by its batches: a checksum covers all of one, producer, codec and timestamps included, but for its
offset and its leader epoch, which stand beside it. Left out of a look is what changes with every start: who leads, in
which epoch, and who is in sync.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from confluent_kafka import Producer

from andiron.client.blocking import Client, ColumnProducer, Transaction
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.blocking.transaction import end_transaction
from andiron.client.core.outbox import ProducerIdentity
from andiron.records.batch import iterate
from peers import clients
from peers.asking import Asker
from peers.clients.base import EARLIEST, LATEST, Record
from peers.raw import Raw
from peers.waiting import eventually

Look = dict[str, Any]

TOPIC, BROKER, GROUP = 2, 4, 32
OF_TOPIC, OF_ALL_BROKERS, OF_GROUP = 1, 3, 8  # where a setting comes from
GROUPS, TRANSACTIONS = 0, 1  # what a coordinator is for
PATIENCE_S = 60
SHARE_VERSION, STREAMS_VERSION = 1, 0
MEMBER = "m" * 22
PREPARED = "prepared"
PARTITIONS = {"orders": 2, "state": 1, "cut": 1, "txn": 1}
CONFIGS = {
    "orders": {"retention.ms": "-1", "min.insync.replicas": "1"},
    "state": {"cleanup.policy": "compact", "segment.ms": "86400000"},
    "cut": {"retention.ms": "-1"},
    "txn": {"retention.ms": "-1"},
}


# ── filling ──────────────────────────────────────────────────────────────────────────


def furnish(ports: Sequence[int], replicas: int = 1) -> ProducerIdentity:
    """Topics, records, offsets and transactions, one of which stays open; whose one is that stays prepared."""
    bootstrap = _bootstrap(ports)
    client = clients.connect("confluent", bootstrap)
    for topic, count in PARTITIONS.items():
        client.create_topic(topic, count, replicas, CONFIGS.get(topic))
    _until_led(ports)
    for partition in range(PARTITIONS["orders"]):
        client.write("orders", _records(100, partition), partition=partition, codec="zstd", idempotent=True)
    client.write("state", [Record(b"k%d" % (n % 7), None if n % 5 == 0 else b"%d" % n) for n in range(50)])
    client.write("cut", _records(40, 9))
    client.delete_records("cut", 0, 15)
    client.alter_configs("orders", {"min.insync.replicas": "1", "max.message.bytes": "2000000"})
    commit(ports, "billing", 60)
    _transact(bootstrap, "paid", "commit_transaction")
    _transact(bootstrap, "void", "abort_transaction")
    _transact(bootstrap, "open", "flush")
    return _prepare(bootstrap)


def furnish_more(ports: Sequence[int]) -> None:
    """What Andiron keeps for Kafka and does not serve."""
    _join("shares", ports, _heartbeat_of_shares)
    _join("flow", ports, _heartbeat_of_streams)
    eventually(lambda: _place_shares(ports), PATIENCE_S)
    with Asker(ports[0]) as asker:
        entity = [{"entity_type": "user", "entity_name": "alice"}]
        quota = {"entity": entity, "ops": [{"key": "producer_byte_rate", "value": 5e6, "remove": False}]}
        assert asker.ask("alter_client_quotas", 1, entries=[quota]).entries[0].error_code == 0
        login = {
            "name": "alice",
            "mechanism": 1,
            "iterations": 4096,
            "salt": b"salt",
            "salted_password": b"secret",
        }
        changed = asker.ask("alter_user_scram_credentials", 0, deletions=[], upsertions=[login])
        assert changed.results[0].error_code == 0


def leave_a_trace(ports: Sequence[int], name: str, replicas: int = 1) -> None:
    """A topic, a record, an offset and a transaction more."""
    client = clients.connect("confluent", _bootstrap(ports))
    client.create_topic(f"by-{name}", 1, replicas)
    _until_led(ports)
    client.write("orders", [Record(name.encode(), b"was here")])
    client.write(f"by-{name}", [Record(None, name.encode())])
    commit(ports, "billing", 61)
    _transact(_bootstrap(ports), "paid", "commit_transaction")


def commit_prepared(ports: Sequence[int], prepared: ProducerIdentity) -> None:
    """Decide what `furnish` left undecided."""
    with Client(_bootstrap(ports)) as client:
        end_transaction(client, PREPARED, prepared, commit=True)
    eventually(lambda: _transaction(ports, PREPARED)["transaction_state"] == "CompleteCommit", PATIENCE_S)


def commit(ports: Sequence[int], group: str, offset: int) -> None:
    """Offsets of a group that nobody is a member of."""
    places = [
        {"partition_index": each, "committed_offset": offset + each, "committed_metadata": f"at {offset}"}
        for each in range(PARTITIONS["orders"])
    ]
    topics = [{"name": "orders", "partitions": places}]

    def is_taken() -> bool:
        with Asker(_coordinator(ports, group)) as asker:
            answer = asker.ask(
                "offset_commit",
                8,
                group_id=group,
                member_id="",
                generation_id_or_member_epoch=-1,
                topics=topics,
            )
        return all(not each.error_code for topic in answer.topics for each in topic.partitions)

    eventually(is_taken, PATIENCE_S)


def _records(count: int, seed: int) -> list[Record]:
    return [
        Record(
            b"key %d" % (n % 13), b"value %d of %d" % (n, seed), (("h", b"%d" % n),), 1_700_000_000_000 + n
        )
        for n in range(count)
    ]


def _transact(bootstrap: str, id: str, end: str) -> None:
    """One transaction that ends so; one that is only flushed is still open when its producer goes."""
    settings = {"bootstrap.servers": bootstrap, "transactional.id": id, "transaction.timeout.ms": 600_000}
    producer = Producer(settings)
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    for number in range(3):
        producer.produce("txn", f"{id} {number}", partition=0)
    producer.flush(PATIENCE_S)
    getattr(producer, end)(PATIENCE_S)


def _prepare(bootstrap: str) -> ProducerIdentity:
    """A transaction that waits for somebody's decision (KIP-939)."""
    with Client(bootstrap) as client:
        transaction = Transaction(client, PREPARED, two_phase=True)
        transaction.initiate()
        transaction.begin()
        producer = ColumnProducer(client, transaction=transaction)
        producer.send("txn", pa.RecordBatch.from_pydict({"value": [PREPARED.encode()], "partition": [0]}))
        producer.flush()
        return transaction.identity


def _join(group: str, ports: Sequence[int], beat: Callable[[Asker, str, int], Any]) -> None:
    """A member comes to a group, is assigned to, and goes."""
    epoch = 0

    def is_assigned() -> bool:
        nonlocal epoch
        answer = beat(asker, group, epoch)
        epoch = 0 if answer.error_code else answer.member_epoch
        return not answer.error_code and epoch > 1

    with Asker(_coordinator(ports, group)) as asker:
        eventually(is_assigned, PATIENCE_S)
        assert beat(asker, group, -1).error_code == 0


def _place_shares(ports: Sequence[int]) -> bool:
    """Whether it is written down, in a topic of its own, from where on a share group reads."""
    places = [{"partition_index": each, "start_offset": 7} for each in range(PARTITIONS["orders"])]
    topics = [{"topic_name": "orders", "partitions": places}]
    with Asker(_coordinator(ports, "shares")) as asker:
        answer = asker.ask("alter_share_group_offsets", 0, group_id="shares", topics=topics)
    answers = [each for topic in answer.responses for each in topic.partitions]
    return (
        not answer.error_code and len(answers) == len(places) and not any(each.error_code for each in answers)
    )


def _heartbeat_of_shares(asker: Asker, group: str, epoch: int) -> Any:
    topics = {"subscribed_topic_names": ["orders"] if epoch == 0 else None}
    return asker.ask(
        "share_group_heartbeat", SHARE_VERSION, group_id=group, member_id=MEMBER, member_epoch=epoch, **topics
    )


def _heartbeat_of_streams(asker: Asker, group: str, epoch: int) -> Any:
    none: list[Any] | None = [] if epoch == 0 else None
    parts = dict.fromkeys(("state_changelog_topics", "repartition_source_topics", "copartition_groups"), ())
    parts |= dict.fromkeys(("source_topic_regex", "repartition_sink_topics"), ())
    topology = {"epoch": 1, "subtopologies": [{"subtopology_id": "0", "source_topics": ["orders"], **parts}]}
    return asker.ask(
        "streams_group_heartbeat", STREAMS_VERSION, group_id=group, member_id=MEMBER, member_epoch=epoch,
        endpoint_information_epoch=0, rebalance_timeout=30_000 if epoch == 0 else -1,
        topology=topology if epoch == 0 else None, process_id="p" if epoch == 0 else None, active_tasks=none,
        standby_tasks=none, warmup_tasks=none, client_tags=none, user_endpoint=None,
    )  # fmt: skip


# ── looking ──────────────────────────────────────────────────────────────────────────


def look(ports: Sequence[int]) -> Look:
    """All that clients are told."""
    _until_led(ports)
    client = clients.connect("confluent", _bootstrap(ports))
    with Asker(ports[0]) as asker:
        told = asker.ask("metadata", 12, topics=None)
        seen: Look = {
            "cluster": told.cluster_id,
            "brokers": sorted(each.node_id for each in told.brokers),
            "features": {
                each.name: each.max_version_level for each in _api_versions(asker).finalized_features
            },
            "settings": _settings(asker, sorted(each.name for each in told.topics)),
        }
    port_of = {each.node_id: each.port for each in told.brokers}
    for topic in told.topics:
        leaders = {each.partition_index: port_of[each.leader_id] for each in topic.partitions}
        replicas = {each.partition_index: sorted(each.replica_nodes) for each in topic.partitions}
        seen[f"topic {topic.name}"] = str(topic.topic_id), topic.is_internal, replicas
        for partition in [] if topic.is_internal else sorted(replicas):
            seen[f"records {topic.name}-{partition}"] = _log(
                client, topic.name, partition, leaders[partition]
            )
    with Client(_bootstrap(ports)) as ours:
        admin = GroupAdmin(ours)
        for group in _groups(ports):
            described = admin.describe(group[0])
            seen[f"group {group[0]}"] = group, described[:5], described.members, admin.committed(group[0])
    for id in _transactional_ids(ports):
        seen[f"transactional id {id}"] = _transaction(ports, id)
    return seen


def look_closer(ports: Sequence[int]) -> Look:
    """What only Kafka tells: the groups that it serves and Andiron keeps, and what nobody here acts upon."""
    with Asker(ports[0]) as asker:
        quotas = asker.ask("describe_client_quotas", 1, components=[], strict=False).entries
        users = asker.ask("describe_user_scram_credentials", 0, users=None).results
        seen: Look = {"quotas": str(quotas), "credentials": str(users)}
    with Asker(_coordinator(ports, "shares")) as asker:
        wanted = [{"group_id": "shares", "topics": None}]
        shares = asker.ask("describe_share_group_offsets", 1, groups=wanted).groups
        seen["shares"] = [
            (topic.topic_name, sorted((each.partition_index, each.start_offset) for each in topic.partitions))
            for group in shares
            for topic in group.topics
        ]
        seen["shares, described"] = str(asker.ask("share_group_describe", 1, group_ids=["shares"]).groups)
    with Asker(_coordinator(ports, "flow")) as asker:
        seen["flow, described"] = str(asker.ask("streams_group_describe", 0, group_ids=["flow"]).groups)
    return seen


def _bootstrap(ports: Sequence[int]) -> str:
    return ",".join(f"127.0.0.1:{port}" for port in ports)


def _api_versions(asker: Asker) -> Any:
    return asker.ask("api_versions", 4, client_software_name="peers", client_software_version="1")


def _until_led(ports: Sequence[int]) -> None:
    """Until everybody is there, and every partition has a leader and all of its replicas in sync."""

    def is_whole() -> bool:
        for port in ports:
            with Asker(port) as asker:
                told = asker.ask("metadata", 12, topics=None)
            partitions = [each for topic in told.topics for each in topic.partitions]
            is_led = all(
                each.leader_id >= 0 and len(each.isr_nodes) == len(each.replica_nodes) for each in partitions
            )
            if len(told.brokers) < len(ports) or not is_led:
                return False
        return True

    eventually(is_whole, PATIENCE_S)


def _settings(asker: Asker, topics: list[str]) -> dict[str, dict[str, str]]:
    """What was set, and not what is in effect by default."""
    whom = [*((TOPIC, name) for name in topics), (BROKER, ""), (GROUP, "billing")]
    resources = [
        {"resource_type": kind, "resource_name": name, "configuration_keys": None} for kind, name in whom
    ]
    answer = asker.ask("describe_configs", 4, resources=resources)
    return {
        each.resource_name: {
            config.name: config.value
            for config in each.configs
            if config.config_source in (OF_TOPIC, OF_ALL_BROKERS, OF_GROUP)
        }
        for each in answer.results
    }


def _log(client: clients.Client, topic: str, partition: int, leader: int) -> Look:
    """Where it begins, ends and is stable; every batch of it, and what is read of it that is committed."""
    start, end = (client.list_offset(topic, partition, spec) for spec in (EARLIEST, LATEST))
    return {
        "offsets": [start, end, client.stable_offset(topic, partition)],
        "batches": _batches(leader, topic, partition, start, end),
        "committed": client.read_all(topic, partition=partition, committed=True),
    }


def _batches(port: int, topic: str, partition: int, start: int, end: int) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    with Raw(port) as link:
        while start < end and (data := link.fetch(topic, start, partition, wait_ms=500)):
            whole = [batch for batch in iterate(data) if batch.next_offset > start]
            assert all(batch.is_intact() for batch in whole), f"{topic}-{partition} is damaged"
            found += [(each.base_offset, each.next_offset, each.leader_epoch, each.crc) for each in whole]
            start = whole[-1].next_offset
    return found


def _groups(ports: Sequence[int]) -> list[tuple[str, str, str]]:
    found: dict[str, tuple[str, str, str]] = {}

    def are_listed() -> bool:
        for port in ports:
            with Asker(port) as asker:
                told = asker.ask("list_groups", 5, states_filter=[], types_filter=[])
            if told.error_code:
                return False
            found.update(
                (each.group_id, (each.group_id, each.protocol_type, each.group_type.lower()))
                for each in told.groups
            )
        return True

    eventually(are_listed, PATIENCE_S)
    return sorted(found.values())


def _transactional_ids(ports: Sequence[int]) -> list[str]:
    found: dict[str, None] = {}

    def are_listed() -> bool:
        for port in ports:
            with Asker(port) as asker:
                told = asker.ask(
                    "list_transactions", 1, state_filters=[], producer_id_filters=[], duration_filter=-1
                )
            if told.error_code:
                return False
            found.update(dict.fromkeys(each.transactional_id for each in told.transaction_states))
        return True

    eventually(are_listed, PATIENCE_S)
    return sorted(found)


def _transaction(ports: Sequence[int], id: str) -> Look:
    with Asker(_coordinator(ports, id, TRANSACTIONS)) as asker:
        (told,) = asker.ask("describe_transactions", 0, transactional_ids=[id]).transaction_states
    return {name: str(value) for name, value in sorted(vars(told).items())}


def _coordinator(ports: Sequence[int], name: str, kind: int = GROUPS) -> int:
    """The port of who coordinates a group or a transactional id, once it is there."""
    port = 0

    def is_found() -> bool:
        nonlocal port
        with Asker(ports[0]) as asker:
            (told,) = asker.ask("find_coordinator", 4, key_type=kind, coordinator_keys=[name]).coordinators
        port = told.port
        return not told.error_code

    eventually(is_found, PATIENCE_S)
    return port
