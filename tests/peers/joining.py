"""A member of a classic group, by hand: joined, synced and standing still for as long as a test needs it."""

from __future__ import annotations

from typing import Any

from peers.asking import Asker

GIVES_IDS_UNASKED = 3  # from version 4 on, a newcomer is told its id first and has to come again
TAKES_INSTANCES = 5


def joining(group: str, member: str = "", **more: Any) -> dict[str, Any]:
    """What is said to join."""
    fields = {"group_id": group, "member_id": member, "session_timeout": 10_000, "rebalance_timeout": 10_000}
    return fields | {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b"m"}]} | more


def join(asker: Asker, group: str, **more: Any) -> Any:
    """A member that has joined and not synced."""
    version = TAKES_INSTANCES if "group_instance_id" in more else GIVES_IDS_UNASKED
    answer = asker.ask("join_group", version, **joining(group, **more))
    assert answer.error_code == 0
    return answer


def joined(asker: Asker, group: str, **more: Any) -> Any:
    """A member, the only one and leader, whose group is stable."""
    answer = join(asker, group, **more)
    synced = asker.ask(
        "sync_group", 3, group_id=group, generation_id=answer.generation_id, member_id=answer.member_id,
        assignments=[{"member_id": answer.member_id, "assignment": b"all"}],
    )  # fmt: skip
    assert (synced.error_code, synced.assignment) == (0, b"all")
    return answer
