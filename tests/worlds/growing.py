"""A cluster whose voters come and go while it runs."""

from andiron.model.errors import ErrorCode
from andiron.wire.messages.add_raft_voter import AddRaftVoterRequest, Listener
from andiron.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from andiron.wire.messages.remove_raft_voter import RemoveRaftVoterRequest
from worlds.cluster import SmallCluster


def grown(nodes=(1, 2, 3, 4), voters=(1, 2, 3), **more):
    """A cluster that node 1 has founded, and in which these vote."""
    made = SmallCluster(nodes, founder=1, **more)
    made.until(made.all_ready)
    for number in voters[1:]:
        assert add(made, number) == "NONE"
    made.until(lambda: all(voters_at(made, number) == list(voters) for number in nodes))
    return made


def directory(made, number):
    return made.broker(number).directories.metadata_id


def add_request(made, number, timeout_ms=5_000, where=None, **fields):
    listeners = [Listener("CONTROLLER", f"node-{number}", 9093)]
    return AddRaftVoterRequest(
        None, timeout_ms, number, where or directory(made, number), listeners, **fields
    )


def add(made, number, at=None, **how):
    """Give a node a vote; what is answered, by name."""
    return said(made.answer(made.controller if at is None else at, add_request(made, number, **how)))


def remove_request(made, number, where=None):
    return RemoveRaftVoterRequest(None, number, where or directory(made, number))


def remove(made, number, at=None, **how):
    """Take a node's vote away; what is answered, by name."""
    return said(made.answer(made.controller if at is None else at, remove_request(made, number, **how)))


def said(answer):
    return ErrorCode.of(answer.error_code).name


def voters_at(made, number):
    return list(made.broker(number).raft.quorum.voters)


def all_agree(made, voters):
    """Whether every node that is up knows these voters, and one of them leads."""
    return made.controller in voters and all(voters_at(made, each.number) == voters for each in made.up())


def can_write(made, name):
    answer = made.answer(made.controller, CreateTopicsRequest([CreatableTopic(name, 1, 1)], 10_000))
    return answer.topics[0].error_code == 0
