"""The log as text and as JSON. Against a process: tests/cli/test_log_format.py."""

import json
import logging
import sys

import pytest

from andiron.edge.log_format import JsonFormat, TextFormat
from andiron.model.line import Line


@pytest.fixture
def record() -> logging.LogRecord:
    """A line of the first second of 2026, and 42 ms."""
    line = Line("ISR of partition {partition} shrank", partition="orders-3", isr=[1, 2])
    record = logging.LogRecord("andiron.broker.replicas", logging.INFO, "replicas.py", 1, line, None, None)
    record.created, record.msecs = 1_767_225_600.042, 42
    return record


def test_a_line_of_text_has_time_level_logger_sentence_and_facts(record):
    assert TextFormat().format(record) == (
        "2026-01-01T00:00:00.042Z INFO andiron.broker.replicas: ISR of partition orders-3 shrank isr=[1,2]"
    )


def test_an_object_has_the_facts_as_fields(record):
    assert json.loads(JsonFormat(node=4).format(record)) == {
        "ts": "2026-01-01T00:00:00.042Z",
        "level": "INFO",
        "logger": "andiron.broker.replicas",
        "node": 4,
        "message": "ISR of partition orders-3 shrank",
        "partition": "orders-3",
        "isr": [1, 2],
    }


def test_an_exception_is_a_field_of_its_line(record):
    try:
        raise ValueError("a planted bug")
    except ValueError:
        record.exc_info = sys.exc_info()
    written = JsonFormat(node=4).format(record)

    assert "\n" not in written
    assert json.loads(written)["exception"].endswith("ValueError: a planted bug")


def test_what_others_log_is_an_object_too():
    record = logging.LogRecord("py.warnings", logging.WARNING, "x.py", 1, "%s is\nold", ("x",), None)

    assert json.loads(JsonFormat(node=1).format(record))["message"] == "x is\nold"
