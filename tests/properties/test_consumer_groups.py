"""Consumer groups under any history: members come, go, crash, fall silent and lose answers while topics grow.

Whatever the order, a partition has one owner at a time, members' epochs only grow, what stays with a member is never
taken from it, and the group comes to rest when everybody is heard from. All that is known comes out of the log again.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from andiron.groups.consumer.group import EMPTY, STABLE, ConsumerGroup
from andiron.groups.consumer.member import AWAY
from andiron.model.errors import ErrorCode, ProtocolError
from groups.consumers import GROUP, INTERVAL_MS, Catalogue, Consumer, Coordinator
from properties.effort import tries

NAMES = ["t", "u", "v"]
FENCED = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND)

subscriptions = st.lists(st.sampled_from(NAMES), min_size=1, unique=True)
places = st.integers(0, 9)


class ConsumerGroups(RuleBasedStateMachine):
    """One group, its members, and what they think."""

    @initialize(
        sizes=st.fixed_dictionaries({name: st.integers(1, 6) for name in NAMES}), assignor=st.booleans()
    )
    def begin(self, sizes, assignor):
        self.sizes = sizes
        self.coordinator = Coordinator(Catalogue(**sizes))
        self.assignor = "range" if assignor else None
        self.consumers: list[Consumer] = []
        self.made = 0
        self.epochs: dict[str, int] = {}

    # ── what can happen ──────────────────────────────────────────────────────────────

    @rule(topics=subscriptions, static=st.booleans(), pattern=st.sampled_from([None, None, "[tu]", ".*"]))
    def join(self, topics, static, pattern):
        if len(self.consumers) == 6:
            return
        self.made += 1
        instance_id = f"i{self.made}" if static else None
        consumer = Consumer(
            self.coordinator, f"m{self.made}", *topics,
            instance_id=instance_id, pattern=pattern, assignor=self.assignor,
        )  # fmt: skip
        consumer.beat()
        self.consumers.append(consumer)

    def pick(self, place):
        return self.consumers[place % len(self.consumers)] if self.consumers else None

    @rule(place=places)
    def heartbeat(self, place):
        if consumer := self.pick(place):
            self.beat(consumer)

    def beat(self, consumer, **fields):
        before = self.keeps(consumer)
        try:
            consumer.beat(**fields)
        except ProtocolError as error:
            assert error.code in FENCED
            consumer.fenced()
            consumer.beat()
            return
        self.what_the_target_leaves_it_stays(consumer, before)

    def keeps(self, consumer):
        """What it owns and has not been told to give up, whether it has heard that or not."""
        member = self.group.members.get(consumer.id) if self.group else None
        revoking = {} if member is None else member.revoking
        return {id: set(share) - revoking.get(id, {}).keys() for id, share in consumer.owned.items()}

    def what_the_target_leaves_it_stays(self, consumer, before):
        target = self.coordinator.group.targets.get(consumer.id, {})
        for id, had in before.items():
            assert had & set(target.get(id, ())) <= set(consumer.owned.get(id, ()))

    @rule(place=places, slow=st.booleans())
    def be_slow(self, place, slow):
        """It takes its time to let go of partitions, or has done so."""
        if consumer := self.pick(place):
            consumer.slow = slow
            if not slow:
                consumer.catch_up()

    @rule(place=places)
    def lose_an_answer(self, place):
        """The coordinator has heard it, and it has not heard the coordinator."""
        if consumer := self.pick(place):
            try:
                consumer.lose_answer()
            except ProtocolError as error:
                assert error.code in FENCED

    @rule(place=places, topics=subscriptions)
    def subscribe(self, place, topics):
        if (consumer := self.pick(place)) and consumer.epoch > 0:
            consumer.topics = list(topics)
            self.beat(consumer, subscribed_topic_names=list(topics))

    @rule(place=places)
    def leave(self, place):
        if consumer := self.pick(place):
            self.consumers.remove(consumer)
            self.goes(consumer, -1)

    @rule(place=places, comes_back=st.booleans())
    def restart(self, place, comes_back):
        """A static member goes for a while."""
        consumer = self.pick(place)
        if consumer is None or consumer.instance_id is None:
            return
        self.consumers.remove(consumer)
        if self.goes(consumer, AWAY) and comes_back:
            self.made += 1
            again = Consumer(
                self.coordinator, f"m{self.made}", *consumer.topics,
                instance_id=consumer.instance_id, pattern=consumer.pattern, assignor=self.assignor,
            )  # fmt: skip
            again.beat()
            self.consumers.append(again)

    def goes(self, consumer, epoch):
        try:
            consumer.leave(epoch)
        except ProtocolError as error:
            assert error.code in FENCED
            return False
        return True

    @rule(place=places)
    def crash(self, place):
        """It is not heard from again, and its session ends some day."""
        if consumer := self.pick(place):
            self.consumers.remove(consumer)

    @rule(duration_ms=st.sampled_from([1_000, INTERVAL_MS, 30_000, 50_000, 70_000]), heard=st.booleans())
    def time(self, duration_ms, heard):
        for _ in range(0, duration_ms, INTERVAL_MS):
            self.coordinator.pass_time(min(duration_ms, INTERVAL_MS))
            for consumer in self.consumers if heard else []:
                self.beat(consumer)

    @rule(name=st.sampled_from(NAMES), by=st.integers(1, 3))
    def grow(self, name, by):
        if self.sizes[name] < 9:
            self.sizes[name] += by
            self.coordinator.topics.put(name, self.sizes[name])

    @rule()
    def fail_over(self):
        self.coordinator.reload()

    # ── what must hold ───────────────────────────────────────────────────────────────

    @property
    def group(self):
        group = self.coordinator.groups.get(GROUP)
        assert group is None or isinstance(group, ConsumerGroup)
        return group

    @invariant()
    def a_partition_has_one_owner(self):
        holders: dict[tuple[bytes, int], str] = {}
        for member in self.group.members.values() if self.group else ():
            for held in (member.assigned, member.revoking):
                for id, epochs in held.items():
                    for partition in epochs:
                        assert holders.setdefault((id, partition), member.id) == member.id
                        assert self.group.owners[id][partition] == member.id
        owned = sum(len(owners) for owners in self.group.owners.values()) if self.group else 0
        assert owned == len(holders)

    @invariant()
    def whoever_thinks_it_owns_a_partition_does(self):
        """Unless it has been taken for dead and has not heard of it yet."""
        for consumer in self.consumers:
            member = self.group.members.get(consumer.id) if self.group else None
            if member is not None:
                for id, share in consumer.owned.items():
                    assert all(self.group.owners[id][partition] == member.id for partition in share)

    @invariant()
    def epochs_only_grow(self):
        members = self.group.members if self.group else {}
        for member in members.values():
            assert member.epoch == AWAY or member.epoch >= self.epochs.get(member.id, 0)
            assert member.epoch <= self.group.assignment_epoch <= self.group.epoch
        self.epochs = {id: member.epoch for id, member in members.items() if member.epoch != AWAY}

    @invariant()
    def the_log_tells_all(self):
        again = Coordinator(self.coordinator.topics)
        again.log = self.coordinator.log
        again.reload()
        assert again.groups.keys() == self.coordinator.groups.keys()
        if self.group:
            for name in (
                "epoch",
                "metadata_hash",
                "assignment_epoch",
                "members",
                "targets",
                "patterns",
                "owners",
            ):
                assert getattr(again.group, name) == getattr(self.group, name)

    @precondition(lambda self: self.consumers)
    @rule()
    def come_to_rest(self):
        """Everybody is heard from, and whoever is not is taken for dead: all have what they should."""
        for _ in range(25):
            self.coordinator.pass_time(INTERVAL_MS)
            for consumer in list(self.consumers):
                self.be_slow(self.consumers.index(consumer), False)
                self.beat(consumer)
        assert self.group.state == STABLE
        written = len(self.coordinator.log)
        held = {}
        for consumer in self.consumers:
            consumer.beat()
            for id, share in consumer.owned.items():
                held.update(dict.fromkeys(((id, partition) for partition in share), consumer.id))
        assert len(self.coordinator.log) == written, "a group at rest writes nothing"
        self.every_partition_that_is_read_has_an_owner(held)

    def every_partition_that_is_read_has_an_owner(self, held):
        names = {name for consumer in self.consumers for name in self.reads(consumer)}
        assert set(held) == {
            (self.coordinator.topics.id(name), partition)
            for name in names
            for partition in range(self.sizes[name])
        }
        for name in names:
            for partition in range(self.sizes[name]):
                owner = held[self.coordinator.topics.id(name), partition]
                assert any(
                    consumer.id == owner and name in self.reads(consumer) for consumer in self.consumers
                )

    @staticmethod
    def reads(consumer):
        matched = {None: [], "[tu]": ["t", "u"], ".*": NAMES}[consumer.pattern]
        return {*consumer.topics, *matched}

    def teardown(self):
        if getattr(self, "consumers", None):
            self.come_to_rest()
            while self.consumers:
                self.leave(0)
            self.coordinator.pass_time(200_000)
            assert self.group is None or (self.group.state == EMPTY and not self.group.owners)


ConsumerGroups.TestCase.settings = settings(max_examples=tries(60), stateful_step_count=40, deadline=None)
TestConsumerGroups = ConsumerGroups.TestCase
