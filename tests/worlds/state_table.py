"""A table of transitions as a picture: a row a state, a column an event."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping


def state_table(
    states: Iterable[enum.Enum],
    events: Iterable[enum.Enum],
    transitions: Mapping[tuple[enum.Enum, enum.Enum], enum.Enum],
) -> str:
    """What follows in each state upon each event; nothing where nothing can."""
    columns = [["", *(state.name for state in states)]]
    for event in events:
        following = (transitions.get((state, event)) for state in states)
        columns.append([event.name, *("" if each is None else each.name for each in following)])
    widths = [max(map(len, column)) for column in columns]
    rows = zip(*columns, strict=True)
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n" + "".join(line.rstrip() + "\n" for line in lines)
