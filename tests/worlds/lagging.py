"""A cluster whose metadata log is kept short, and a node of it that was away for too long."""

from andiron.broker.metadata.snapshot_fetcher import SnapshotFetcher
from andiron.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from andiron.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from worlds.cluster import SmallCluster

HERE = "/data/__cluster_metadata-0"
SHORT = {"metadata_log_max_record_bytes_between_snapshots": 1500, "metadata_max_retention_bytes": 0}


def cluster(**more):
    made = SmallCluster(**SHORT, **more)
    made.until(made.all_ready)
    return made


def create(made, *names, **configs):
    given = [CreatableTopicConfig(name.replace("_", "."), str(value)) for name, value in configs.items()]
    topics = [CreatableTopic(name, 1, 3, configs=given) for name in names]
    answer = made.answer(made.controller, CreateTopicsRequest(topics, 10_000))
    assert [topic.error_code for topic in answer.topics] == [0] * len(names)
    made.pass_time(100)


def delete(made, name):
    answer = made.answer(made.controller, DeleteTopicsRequest([DeleteTopicState(name)], timeout_ms=10_000))
    assert answer.responses[0].error_code == 0


def follower(made):
    return next(member.number for member in made.up() if member.number != made.controller)


def log(made, number):
    return made.broker(number).raft.partition.log


def is_caught_up(made, number):
    """Whether a node's image is that of the controller's node, and its partitions are those of the image."""
    if made.controller in (None, -1):
        return False
    image, mine = made.broker(made.controller).image, made.broker(number)
    hosted = [(topic.name, index) for topic, index, each in image.partitions() if number in each.replicas]
    return (
        (mine.image.topics, mine.image.configs) == (image.topics, image.configs)
        and sorted(each.name for each in mine.replica_manager) == sorted(hosted)
        and made.all_ready()
    )


def away_while_the_log_moves_on(made):
    """A node is killed, and what comes after its log's end is not in the others' logs any more."""
    create(made, "kept", "gone", "again", "set")
    away = follower(made)
    end = log(made, away).end
    made.kill(away)
    made.pass_time(1_000)
    delete(made, "gone")
    delete(made, "again")
    create(made, "again", retention_ms=5)
    create(made, *(f"t{number}" for number in range(20)))
    made.until(lambda: log(made, made.controller).start > end)
    return away


class Counted:
    """Counts the pieces that are asked for, and does something when it comes to one of them."""

    def __init__(self, monkeypatch, upto, then):
        self.count, self.over = 0, False
        ask = SnapshotFetcher._ask

        def asked(fetch, coming):
            self.count += 1
            if self.count == upto and not self.over:
                self.over = True
                then()
            ask(fetch, coming)

        monkeypatch.setattr(SnapshotFetcher, "_ask", asked)
