"""Durations are in one table, each with its reason."""

import re
from pathlib import Path

from andiron.broker.node import patience

BROKER = Path(patience.__file__).parents[1]
DURATION = re.compile(r"^[A-Z_]*_MS[A-Z_]* = \d[\d_]*", re.MULTILINE)


def test_every_duration_says_why_it_is_so_long():
    lines = Path(patience.__file__).read_text().splitlines()

    assert [line for line in lines if DURATION.match(line) and "  # " not in line] == []


def test_no_other_file_of_the_broker_has_one_of_its_own():
    others = [path for path in BROKER.rglob("*.py") if path.name != "patience.py"]

    assert {path.name: found for path in others if (found := DURATION.findall(path.read_text()))} == {}
