"""Which role of a voter follows which: the table, as a picture."""

from __future__ import annotations

import pytest

from andiron.model.invariant import BrokenInvariant
from andiron.quorum.roles import Role, Turn
from unit.quorum.memory import quorum

PICTURE = """
                     unattached   prospective  candidate    leader       follower     resigned
LED_BEFORE_RESTART   resigned     -            -            -            -            -
LATER_EPOCH          unattached   unattached   unattached   unattached   unattached   unattached
LEADER_FOUND         follower     follower     follower     follower     follower     follower
LEADER_RESIGNED      -            -            -            -            unattached   -
OBSERVER_TIMEOUT     unattached   unattached   unattached   -            unattached   unattached
ELECTION_TIMEOUT     prospective  prospective  prospective  -            prospective  -
PRE_VOTE_GIVEN       -            unattached   -            -            -            -
PRE_VOTE_LOST        -            unattached   -            -            -            -
STANDS               candidate    candidate    candidate    -            candidate    -
VOTE_GIVEN           unattached   unattached   -            -            -            -
ELECTION_LOST        -            -            candidate    -            -            -
ELECTION_WON         -            -            leader       -            -            -
RESIGNS              -            -            -            resigned     -            -
"""


def drawn() -> str:
    rows = [("", [role.value for role in Role])]
    for turn in Turn:
        rows.append((turn.name, [_cell(role.after(turn)) for role in Role]))
    return "\n" + "".join(
        (f"{name:<21}" + "".join(f"{cell:<13}" for cell in cells)).rstrip() + "\n" for name, cells in rows
    )


def _cell(after: Role | None) -> str:
    return "-" if after is None else after.value


def test_the_table_of_roles():
    assert drawn() == PICTURE


def test_nobody_leads_but_a_candidate_that_won():
    ways = [(turn, role) for turn in Turn for role in Role if role.after(turn) is Role.LEADER]

    assert ways == [(Turn.ELECTION_WON, Role.CANDIDATE)]


def test_who_leads_gives_it_up_before_it_stands_again():
    after = {Role.LEADER.after(turn) for turn in Turn} - {None}

    assert after == {Role.RESIGNED, Role.UNATTACHED, Role.FOLLOWER}


@pytest.mark.parametrize("turn", [Turn.ELECTION_WON, Turn.RESIGNS, Turn.PRE_VOTE_LOST, Turn.LEADER_RESIGNED])
def test_a_turn_that_is_not_in_the_table_is_a_bug(files, turn):
    voter = quorum(files)

    with pytest.raises(
        BrokenInvariant, match=rf"as the table of roles says: Role.UNATTACHED, Turn.{turn.name}"
    ):
        voter._turn(turn, 1, 0)
    assert voter.role is Role.UNATTACHED
