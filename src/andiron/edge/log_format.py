"""How the log of a node is written: a line of text for people, or a JSON object a line for programs.

    text   2026-03-01T12:00:00.123Z INFO andiron.broker.replicas: ISR of partition orders-3 shrank isr=[1,2]
    json   {"ts": "2026-03-01T12:00:00.123Z", "level": "INFO", "logger": "andiron.broker.replicas", "node": 1,
            "message": "ISR of partition orders-3 shrank", "partition": "orders-3", "isr": [1, 2]}

Time is UTC, so that the logs of several nodes can be laid side by side. The logger is where the line comes from, and
what `kafka-configs --entity-type broker-loggers` turns louder. What a line says is model/line.py's.
"""

from __future__ import annotations

import json
import logging
import sys
import time

from andiron.model.line import Line

TEXT, JSON = FORMATS = ("text", "json")


class TextFormat(logging.Formatter):
    """A line for people; an exception follows it as Python prints it."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")


class JsonFormat(TextFormat):
    """An object for programs, whole in its line; the facts are fields, and so is an exception."""

    def __init__(self, node: int) -> None:
        super().__init__()
        self._node = node

    def format(self, record: logging.LogRecord) -> str:
        """Also of whoever logs by other means than ours."""
        line = record.msg if isinstance(record.msg, Line) else None
        fields: dict[str, object] = {
            "ts": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "node": self._node,
            "message": record.getMessage() if line is None else line.message,
            **({} if line is None else line.facts),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields)


def write_log(log_format: str, node: int, level: int) -> None:
    """Send the log of this process to stderr, from this level on, unless it goes somewhere already."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormat(node) if log_format == JSON else TextFormat())
    logging.basicConfig(handlers=[handler], level=level)
