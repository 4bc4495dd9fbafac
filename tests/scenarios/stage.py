"""The commands of the stories, done to a small cluster: nodes without sockets, threads or a clock (worlds/cluster.py).

    $ produce orders a b acks=1 to=2
      ───────        ───  ──────────
      do_produce     words   options: name=value

A command returns the lines that it prints, in Kafka's words. It is asked of the brokers as a client would ask it;
between two commands nothing happens but what needs no time: `wait` and `until` let time pass. Same text, same history.

Read next: members.py, the consumers of a group; worlds/cluster.py, what a cut or a pause does.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from typing import Any

from andiron.broker.metadata.standalone_format import FIRST
from andiron.model.effects import Finished, Work
from andiron.records.batch import Batch, iterate
from andiron.records.builder import build
from andiron.records.control import control_records
from andiron.records.record import Record, records_of
from andiron.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from andiron.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from andiron.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from andiron.wire.messages.init_producer_id import InitProducerIdRequest
from andiron.wire.messages.list_transactions import ListTransactionsRequest
from andiron.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from scenarios.members import Members
from worlds import growing
from worlds.cluster import SmallCluster
from worlds.cluster_client import brokers, create, delete, fetch, move, read, ready, some_broker
from worlds.cluster_coordinators import (
    TRANSACTION,
    Producer,
    commit_offset,
    commit_offset_in,
    committed_offset,
    end,
    patiently,
)
from worlds.node import error_of

CONTROLLER = 9  # of stories in which nothing happens to it
ACKS = {"0": 0, "1": 1, "all": -1}
LONG_MS = 60_000  # so long that nobody looks at each moment of it
UNITS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000}
TOPIC = 2


class Cluster(SmallCluster):
    """Nodes in racks of their own, whose jobs (compaction) are done at once."""

    def start(self, number: int) -> None:
        self.more = {**self.more, "broker_rack": f"rack-{number}"}
        super().start(number)

    def _carry_out(self, member: Any, effects: Any) -> None:
        effects = list(effects)
        for effect in effects:
            if isinstance(effect, Work):
                self._later(member, member.life, Finished(effect.token, effect.job.run(member.disk), None))
        super()._carry_out(member, effects)


class Stage:
    """One story's cluster, and its producers, consumers and requests that wait."""

    def __init__(self) -> None:
        self.cluster: Any = None
        self.members: Any = None
        self._producers: dict[str, Producer] = {}
        self._sequences: dict[tuple[Producer, str], int] = {}
        self._waiting: list[tuple[str, list[Any]]] = []
        self._session = (0, 0)  # of fetches: its id, its epoch

    @classmethod
    def commands(cls) -> list[str]:
        """The names of all commands."""
        return [name.removeprefix("do_").replace("_", "-") for name in vars(cls) if name.startswith("do_")]

    def run(self, line: str) -> list[str]:
        """Do a command; the lines that it prints."""
        name, *arguments = shlex.split(line, comments=True)
        words = [each for each in arguments if "=" not in each]
        options = dict(each.split("=", 1) for each in arguments if "=" in each)
        do: Callable[..., list[str] | None] = getattr(self, f"do_{name.replace('-', '_')}")
        return do(*words, **{key.replace(".", "_"): value for key, value in options.items()}) or []

    # ── nodes ────────────────────────────────────────────────────────────────────────

    def do_brokers(self, *numbers: str, **settings: str) -> None:
        """Brokers, and a controller beside them that nothing happens to."""
        nodes = tuple(map(int, numbers))
        self._begin(Cluster((*nodes, CONTROLLER), (CONTROLLER,), (CONTROLLER,), **settings))

    def do_nodes(self, *numbers: str, **settings: str) -> None:
        """Nodes that are broker and voter each; with `founder=1`, that one alone votes at first."""
        founder = settings.pop("founder", None)
        self._begin(Cluster(tuple(map(int, numbers)), founder=founder and int(founder), **settings))

    def _begin(self, cluster: Cluster) -> None:
        self.cluster = ready(cluster)
        self.members = Members(self.cluster)

    def do_kill(self, *numbers: str) -> None:
        self.cluster.kill(*map(int, numbers))

    def do_power_cut(self, *numbers: str) -> None:
        self.cluster.lose_power(*map(int, numbers))

    def do_stop(self, number: str) -> list[str]:
        return ["clean shutdown"] if self.cluster.stop(int(number)) else ["unclean shutdown"]

    def do_start(self, *numbers: str) -> None:
        for number in numbers:
            self.cluster.start(int(number))

    def do_isolate(self, *numbers: str) -> None:
        self.cluster.isolate(*map(int, numbers))

    def do_pause(self, *numbers: str) -> None:
        self.cluster.paused |= set(map(int, numbers))

    def do_heal(self) -> None:
        self.cluster.heal()

    def do_wait(self, duration: str) -> None:
        ms = _ms(duration)
        self.cluster.pass_time(ms, step=10 if ms < LONG_MS else 100)

    def do_until(self, name: str = "", **wanted: str) -> list[str]:
        """Let time pass until a partition, or the quorum, is described so; how it is described then."""
        told: list[str] = []

        def holds() -> bool:
            told[:] = [self._quorum()] if name == "quorum" else [self._described(*_partition(name))]
            words = told[0].split()
            return all(f"{key}={value}" in words for key, value in wanted.items())

        self.cluster.until(holds)
        return told

    # ── topics ───────────────────────────────────────────────────────────────────────

    def do_create(self, topic: str, replicas: str = "", **configs: str) -> list[str]:
        lists = [tuple(map(int, each.split(","))) for each in replicas.split("/") if each]
        everybody = tuple(sorted(broker.settings.node_id for broker in brokers(self.cluster)))
        create(self.cluster, topic, lists or everybody, **configs)
        return self.do_describe(topic)

    def do_describe(self, topic: str) -> list[str]:
        partitions = self.cluster.image.topics[topic].partitions
        return [self._described(topic, index) for index in sorted(partitions)]

    def _described(self, topic: str, index: int) -> str:
        image = self.cluster.image_of(topic, index)
        told = [f"{topic}-{index} ", f"leader={image.leader if image.leader > 0 else 'none'}"]
        told += [f"epoch={image.leader_epoch}", f"replicas={_list(image.replicas)}"]
        told += [f"isr={_list(sorted(image.isr))}"]
        for name, nodes in ("elr", image.elr), ("adding", image.adding), ("removing", image.removing):
            told += [f"{name}={_list(nodes)}"] if nodes else []
        return " ".join(told)

    def do_configure(self, topic: str, **configs: str) -> list[str]:
        changes = [AlterableConfig(key.replace("_", "."), 0, value) for key, value in configs.items()]
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(TOPIC, topic, changes)])
        answer = self.cluster.answer(some_broker(self.cluster), request).responses[0]
        self.cluster.pass_time(50)
        return [] if answer.error_code == 0 else [error_of(answer)]

    def do_delete(self, topic: str) -> None:
        delete(self.cluster, topic)

    def do_elect(self, partition: str, how: str) -> list[str]:
        topic, index = _partition(partition)
        kind = {"preferred": 0, "unclean": 1}[how]
        request = ElectLeadersRequest(kind, [TopicPartitions(topic, [index])])
        answer = self.cluster.answer(some_broker(self.cluster), request)
        error = error_of(answer.replica_election_results[0].partition_result[0])
        self.cluster.pass_time(50)
        return [self._described(topic, index)] if error == "NONE" else [error]

    def do_reassign(self, partition: str, replicas: str = "") -> list[str]:
        topic, index = _partition(partition)
        wanted = [int(each) for each in replicas.split(",")] if replicas else None
        error = move(self.cluster, wanted, topic, index, node=some_broker(self.cluster))
        self.cluster.pass_time(20)
        return [self._described(topic, index)] if error == "NONE" else [error]

    # ── records ──────────────────────────────────────────────────────────────────────

    def do_produce(self, topic: str, *values: str, **how: str) -> list[str]:
        """Send records, `key:value` or a value; with `&` at the end nobody waits for the answer."""
        words = [each for each in values if each != "&"]
        answers = self._send(topic, words, **how)
        if "&" in values:
            self._waiting.append((" ".join(words), answers))
            return [] if not answers else self.do_answers()
        if how.get("acks") == "0":
            self.cluster.settle()
            return []
        self.cluster.until(lambda: answers)
        return [_produced(answers[0])]

    def do_answers(self) -> list[str]:
        """What has come of the requests that were not waited for."""
        told = [
            f"{words}: {_produced(answers[0]) if answers else 'waits'}" for words, answers in self._waiting
        ]
        self._waiting = [each for each in self._waiting if not each[1]]
        return told

    def _send(
        self, name: str, values: list[str], acks: str = "all", to: str = "", by: str = "",
        sequence: str = "", timeout: str = "5s", epoch: str = "",
    ) -> list[Any]:  # fmt: skip
        topic, index = _partition(name)
        records = [_record(value, self.cluster.now) for value in values]
        batch: dict[str, Any] = {}
        producer = self._producers.get(by)
        if producer is not None:
            at = (producer, name)
            first = int(sequence) if sequence else self._sequences.get(at, 0)
            if not epoch:
                self._sequences[at] = max(self._sequences.get(at, 0), first + len(values))
            batch = {
                "producer_id": producer.id, "producer_epoch": int(epoch or producer.epoch), "base_sequence": first,
                "transactional": bool(producer.name),
            }  # fmt: skip
        data = PartitionProduceData(index, build(records, **batch))
        request = ProduceRequest(
            (producer and producer.name) or None, ACKS[acks], _ms(timeout),
            [TopicProduceData("", self.cluster.image.topics[topic].id, [data])],
        )  # fmt: skip
        return self.cluster.ask(int(to or self.cluster.leader_of(topic, index)), request)

    def do_read(self, name: str, at: str = "", isolation: str = "", rack: str = "") -> list[str]:
        """All that a consumer is shown of a partition."""
        topic, index = _partition(name)
        level = {"": 0, "read_uncommitted": 0, "read_committed": 1}[isolation]
        where = int(at) if at else None
        try:
            found = read(self.cluster, topic, frm=where, partition=index, isolation_level=level, rack_id=rack)
        except AssertionError as refused:
            return [str(refused)]
        return [" ".join(value.decode() for value in found) or "nothing"]

    def do_fetch(self, name: str, offset: str, at: str = "", epoch: str = "-1", rack: str = "") -> list[str]:
        """One Fetch, and all that its answer says."""
        topic, index = _partition(name)
        answer = fetch(
            self.cluster, topic, int(offset), frm=int(at) if at else None, partition=index, epoch=int(epoch),
            rack_id=rack,
        )  # fmt: skip
        if answer.error_code:
            return [error_of(answer) + _hint(answer.current_leader)]
        if answer.preferred_read_replica > 0:
            return [f"preferred read replica {answer.preferred_read_replica}"]
        return [f"{_values(answer.records)}, high watermark {answer.high_watermark}"]

    def do_session(self, topic: str = "", offset: str = "0") -> list[str]:
        """A fetch session (KIP-227): begun with all partitions of a topic, or gone on with, which names none."""
        id, epoch = (0, 0) if topic else self._session
        topics = []
        if topic:
            image = self.cluster.image.topics[topic]
            wanted = [
                FetchPartition(index, -1, int(offset), partition_max_bytes=1 << 20)
                for index in sorted(image.partitions)
            ]
            topics = [FetchTopic("", image.id, wanted)]
        request = FetchRequest(
            max_wait_ms=0, max_bytes=1 << 20, session_id=id, session_epoch=epoch, topics=topics
        )
        response = self.cluster.answer(self._session_at(topic), request, 17)
        self._session = (response.session_id, epoch + 1)
        if response.error_code:
            return [error_of(response)]
        names = {image.id: name for name, image in self.cluster.image.topics.items()}
        told = [
            f"{names[each.topic_id]}-{part.partition_index}: {_values(part.records)}"
            for each in response.responses
            for part in each.partitions
        ]
        return told or ["nothing new"]

    def _session_at(self, topic: str) -> int:
        return int(self.cluster.leader_of(topic)) if topic else some_broker(self.cluster)

    def do_delete_records(self, name: str, before: str) -> list[str]:
        topic, index = _partition(name)
        wanted = DeleteRecordsTopic(topic, [DeleteRecordsPartition(index, int(before))])
        leader = self.cluster.leader_of(topic, index)
        answer = self.cluster.answer(leader, DeleteRecordsRequest([wanted], 10_000)).topics[0].partitions[0]
        return [f"low watermark {answer.low_watermark}" if answer.error_code == 0 else error_of(answer)]

    def do_end_of_epoch(self, name: str, epoch: str, at: str = "") -> list[str]:
        """OffsetForLeaderEpoch: where a leader epoch ends in the leader's log."""
        topic, index = _partition(name)
        wanted = OffsetForLeaderTopic(topic, [OffsetForLeaderPartition(index, leader_epoch=int(epoch))])
        node = int(at or self.cluster.leader_of(topic, index))
        answer = (
            self.cluster.answer(node, OffsetForLeaderEpochRequest(topics=[wanted])).topics[0].partitions[0]
        )
        return [f"epoch {answer.leader_epoch} ends at {answer.end_offset}"]

    def do_logs(self, name: str) -> list[str]:
        """Each replica's log: records by leader epoch, and `|` where its high watermark is."""
        topic, index = _partition(name)
        return [
            f"broker {member.number}{' (leader)' if part.leads else ''}: {_log(part)}"
            for member in self.cluster.up()
            if (part := self.cluster.partition(member.number, topic, index)) is not None
        ]

    def do_offsets(self, name: str) -> list[str]:
        """Where the leader's log starts, is stable, is committed and ends."""
        topic, index = _partition(name)
        part = self.cluster.partition(self.cluster.leader_of(topic, index), topic, index)
        return [
            f"log start {part.log.start}, last stable offset {part.readable_end(True)}, "
            f"high watermark {part.watermark}, log end {part.log.end}"
        ]

    # ── producers ────────────────────────────────────────────────────────────────────

    def do_producer(self, name: str, timeout: str = "60s", **ids: str) -> list[str]:
        """InitProducerId: an idempotent producer, or with `transactional.id` one of transactions."""
        id = ids.get("transactional_id")
        request = InitProducerIdRequest(id, _ms(timeout))
        if id is None:
            answer = self.cluster.answer(some_broker(self.cluster), request)
        else:
            answer = patiently(self.cluster, TRANSACTION, id, request)
        if answer.error_code:
            return [error_of(answer)]
        self._producers[name] = Producer(answer.producer_id, answer.producer_epoch, id or "")
        return [f"{name}: producer id {answer.producer_id}, epoch {answer.producer_epoch}"]

    def do_producers(self, name: str) -> list[str]:
        """What a partition's leader knows of its producers."""
        topic, index = _partition(name)
        request = DescribeProducersRequest([TopicRequest(topic, [index])])
        answer = self.cluster.answer(self.cluster.leader_of(topic, index), request).topics[0].partitions[0]
        return [
            f"producer id {each.producer_id}, epoch {each.producer_epoch}, last sequence {each.last_sequence}"
            + (
                f", in a transaction since {each.current_txn_start_offset}"
                * (each.current_txn_start_offset >= 0)
            )
            for each in answer.active_producers
        ] or ["none"]

    def do_commit(self, name: str) -> list[str]:
        return self._end(name, committed=True)

    def do_abort(self, name: str) -> list[str]:
        return self._end(name, committed=False)

    def _end(self, name: str, *, committed: bool) -> list[str]:
        """EndTxn; with transactions of version 2 the producer goes on in the next epoch (KIP-890)."""
        producer = self._producers[name]
        try:
            after = end(self.cluster, producer, committed=committed)
        except AssertionError as refused:
            return [str(refused)]
        self.cluster.pass_time(200)
        self._producers[name] = after
        return [f"{name}: producer id {after.id}, epoch {after.epoch}"]

    def do_transactions(self) -> list[str]:
        told = []
        for broker in brokers(self.cluster):
            answer = self.cluster.answer(broker.settings.node_id, ListTransactionsRequest())
            told += [
                f"{each.transactional_id}: {each.transaction_state}" for each in answer.transaction_states
            ]
        return sorted(told) or ["none"]

    # ── groups ───────────────────────────────────────────────────────────────────────

    def do_commit_offset(self, group: str, topic: str, offset: str, by: str = "") -> list[str]:
        """OffsetCommit, or TxnOffsetCommit as part of a producer's transaction."""
        if by:
            error = commit_offset_in(self.cluster, self._producers[by], group, topic, int(offset))
        else:
            error = commit_offset(self.cluster, group, topic, int(offset))
        return [] if error == "NONE" else [error]

    def do_committed(self, group: str, topic: str) -> list[str]:
        offset = committed_offset(self.cluster, group, topic)
        return [f"offset {offset}" if offset >= 0 else "nothing"]

    def do_join(self, group: str, *names: str, **how: str) -> list[str]:
        return self.members.join(group, names, **how)

    def do_heartbeat(self, *names: str) -> list[str]:
        return [line for name in names for line in self.members.heartbeat(name)]

    def do_restart(self, name: str) -> None:
        """A member's process is started again: it knows its group.instance.id, if it has one, and nothing else."""
        self.members.restart(name)

    def do_leave(self, name: str) -> list[str]:
        return self.members.leave(name)

    # ── the quorum ───────────────────────────────────────────────────────────────────

    def do_quorum(self) -> list[str]:
        return [self._quorum()]

    def _quorum(self) -> str:
        known = max((m.node.broker.raft for m in self.cluster.up()), key=lambda each: each.quorum.epoch)
        leader = next((m.number for m in self.cluster.up() if m.node.broker.controller.is_active), None)
        voters = growing.voters_at(self.cluster, leader) if leader else []
        return (
            f"leader={leader or 'none'} epoch={known.quorum.epoch} voters={_list(voters) if leader else '?'}"
        )

    def do_add_voter(self, number: str) -> list[str]:
        return self._changed(growing.add(self.cluster, int(number)))

    def do_remove_voter(self, number: str) -> list[str]:
        return self._changed(growing.remove(self.cluster, int(number)))

    def _changed(self, error: str) -> list[str]:
        self.cluster.pass_time(500)
        return self.do_quorum() if error == "NONE" else [error]

    def do_metadata(self, number: str) -> list[str]:
        """Where a node's metadata log starts, and its newest snapshot (KIP-630), but for that of an empty cluster."""
        raft = self.cluster.broker(int(number)).raft
        newest = max(raft.snapshots.table, default=FIRST)
        told = f"snapshot to offset {newest.end}, epoch {newest.epoch}" if newest > FIRST else "no snapshot"
        log = raft.partition.log
        return [f"node {number}: {told}; log start offset {log.start}, log end offset {log.end}"]


def _partition(name: str) -> tuple[str, int]:
    """`orders-2` is a partition, and `orders` its first."""
    topic, dash, index = name.rpartition("-")
    return (topic, int(index)) if dash and index.isdigit() else (name, 0)


def _record(text: str, now: int) -> Record:
    key, colon, value = text.rpartition(":")
    return Record(0, now, key.encode() if colon else None, value.encode() if value else None)


def _ms(duration: str) -> int:
    number = duration.rstrip("abcdefghijklmnopqrstuvwxyz")
    return int(number) * UNITS[duration.removeprefix(number)]


def _list(numbers: Any) -> str:
    return ",".join(map(str, numbers)) or "none"


def _hint(leader: Any) -> str:
    """What an error says of who leads instead (KIP-951)."""
    return (
        ""
        if leader is None or leader.leader_id < 0
        else f" (leader {leader.leader_id}, epoch {leader.leader_epoch})"
    )


def _produced(answer: Any) -> str:
    if answer is None:
        return "the connection broke"
    part = answer.responses[0].partition_responses[0]
    return (
        f"offset {part.base_offset}" if part.error_code == 0 else error_of(part) + _hint(part.current_leader)
    )


def _shown(record: Record) -> str:
    key = f"{record.key.decode()}:" if record.key is not None else ""
    return key + (record.value.decode() if record.value is not None else "")


def _values(records: Any) -> str:
    found = [_shown(each) for batch in iterate(bytes(records or b"")) for each in records_of(batch)]
    return " ".join(found) or "no records"


def _batches(log: Any) -> Iterator[Batch]:
    offset = log.start
    while offset < log.end:
        for batch in iterate(bytes(log.read(offset, 1 << 20, log.end, at_least_one=True).read())):
            yield batch
            offset = batch.next_offset


def _log(part: Any) -> str:
    """A replica's records, each epoch's after its number, the high watermark between those below it and the others."""
    told: list[str] = []
    epoch, marked = None, False
    for batch in _batches(part.log):
        if batch.leader_epoch != epoch:
            epoch = batch.leader_epoch
            told.append(f"[epoch {epoch}]")
        if batch.is_control:
            words = [(batch.base_offset, f"<{kind.name.lower()}>") for kind, _ in control_records(batch)]
        else:
            words = [
                (each.offset, _shown(each)) for each in records_of(batch) if each.offset >= part.log.start
            ]
        for offset, word in words:
            if offset >= part.watermark and not marked:
                told.append("|")
                marked = True
            told.append(word)
    return " ".join(told if marked else [*told, "|"])
