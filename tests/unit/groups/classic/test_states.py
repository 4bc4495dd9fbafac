"""The states of a classic group are a table, and have the names that clients know."""

from __future__ import annotations

from andiron.groups.classic.states import TRANSITIONS, ClassicState, GroupEvent
from andiron.groups.listing import STATES
from worlds.state_table import state_table

PICTURE = """
                      REBALANCE            JOINED                LEFT   ASSIGNED  RESTORED  DELETED
EMPTY                 PREPARING_REBALANCE                                         STABLE    DEAD
PREPARING_REBALANCE                        COMPLETING_REBALANCE  EMPTY                      DEAD
COMPLETING_REBALANCE  PREPARING_REBALANCE                               STABLE              DEAD
STABLE                PREPARING_REBALANCE                                                   DEAD
DEAD
"""


def test_a_classic_group_goes_by_this_table():
    assert state_table(ClassicState, GroupEvent, TRANSITIONS) == PICTURE


def test_a_filter_of_list_groups_knows_them_all():
    assert {state.lower() for state in ClassicState} <= STATES
