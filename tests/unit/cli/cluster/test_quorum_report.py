"""The quorum in one table."""

from __future__ import annotations

from andiron.cli.cluster.quorum_report import QuorumReport
from andiron.client.core.addresses import Address
from andiron.client.core.cluster_descriptions import NO_DIRECTORY, QuorumMember, QuorumState

NOW = 1_000_000


def member(id: int, end: int, ago: int = 300) -> QuorumMember:
    return QuorumMember(id, NO_DIRECTORY, end, NOW - ago, NOW - ago)


def report(
    *voters: QuorumMember, observers: list[QuorumMember] | None = None, leader: int = 1
) -> QuorumReport:
    addresses = {2: {"CONTROLLER": Address("two", 9093)}}
    return QuorumReport(QuorumState(leader, 7, 90, list(voters), observers or [], addresses), NOW)


def test_it_is_one_table_for_people() -> None:
    told = report(member(1, 100), member(2, 100), member(3, 40, 130_000), observers=[member(4, 99)])

    assert told.as_text() == "\n".join(
        [
            "quorum: leader 1, epoch 7, high watermark 90, 3 voters of which 3 is away and none more may fail, "
            "1 observer, behind by 60 records at most",
            "",
            "NODE  ROLE      LOG END  LAG  LAST FETCH  CAUGHT UP   ADDRESS",
            "   1  leader        100    0  -           -           -",
            "   2  voter         100    0  0.3s ago    0.3s ago    CONTROLLER://two:9093",
            "   3  voter          40   60  2m 10s ago  2m 10s ago  -",
            "   4  observer       99    1  0.3s ago    0.3s ago    -",
        ]
    )


def test_who_may_still_fail_is_counted_without_those_that_are_away() -> None:
    five = [member(1, 9), member(2, 9), member(3, 9), member(4, 9, 60_000), member(5, 9, 60_000)]

    assert "5 voters of which 2 may fail" in report(*five[:3], member(4, 9), member(5, 9)).as_text()
    assert (
        "5 voters of which 5 is away and 1 more may fail"
        in report(*five[:3], member(4, 9), five[4]).as_text()
    )
    assert "5 voters of which 4, 5 are away and none more may fail" in report(*five).as_text()
    told = report(*five).as_json()
    assert (told["away"], told["failures_borne"]) == ([4, 5], 0)


def test_one_voter_alone_has_nobody_to_wait_for() -> None:
    told = report(member(1, 5))

    assert told.as_text().splitlines()[0].endswith("1 voter of which none may fail")
    assert told.as_json()["max_lag"] == 0


def test_without_a_leader_nobody_knows_how_far_behind_anyone_is() -> None:
    told = report(member(1, 100), member(2, 90), leader=-1)

    assert told.as_text().startswith("quorum: no leader, ")
    assert told.as_json()["leader"] is None
    assert told.as_json()["max_lag"] is None


def test_it_is_complete_for_programs() -> None:
    never = QuorumMember(3, bytes(range(16)), -1, -1, -1)
    told = report(member(1, 100), member(2, 98), observers=[never]).as_json()

    assert (told["leader"], told["epoch"], told["high_watermark"], told["max_lag"]) == (1, 7, 90, 2)
    assert told["voters"][1] == {
        "id": 2,
        "directory": None,
        "log_end": 98,
        "lag": 2,
        "last_fetch_ms": NOW - 300,
        "last_caught_up_ms": NOW - 300,
        "addresses": {"CONTROLLER": "two:9093"},
    }
    assert told["observers"][0]["log_end"] is told["observers"][0]["last_fetch_ms"] is None
    assert told["observers"][0]["directory"] == "AAECAwQFBgcICQoLDA0ODw"
