"""Why a query failed, in one line, out of what Spark says about it in two hundred.

    [STREAM_FAILED] Query … terminated with exception: Job aborted due to stage failure: …
    Traceback (most recent call last):
      File …
    andiron.model.errors.Refused: OFFSET_OUT_OF_RANGE: orders-0 begins at 512    ◀── this
    … Driver stacktrace: … at org.apache.spark …

An error that was raised in Python says it best, and the last of a chain of them is nearest to what was meant. Where
there is none, the message is taken up to the point where the stack begins.
"""

from __future__ import annotations

import re

_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"(?:[A-Za-z_][\w.]*\.)?([A-Z]\w*): (.+)")
_LEAD = re.compile(r"^.*?terminated with exception: ", re.DOTALL)
_STACK = re.compile(r"\n\s*(?:at |=+ |Driver stacktrace|Traceback|JVM stacktrace|Caused by)")
_TAIL = re.compile(r"\s+(?:SQLSTATE: \w+|Driver stacktrace:.*)$")
LONGEST = 400


def failure_reason(told: str) -> str:
    """The one line of an error of Spark's that says what went wrong."""
    raised = _raised(told)
    if raised:
        return _short(raised[-1])
    message = _LEAD.sub("", told, count=1)
    return _short(_STACK.split(message, maxsplit=1)[0])


def _raised(told: str) -> list[str]:
    """What ended each Python traceback: the first line after its frames."""
    found: list[str] = []
    inside = False
    for line in told.splitlines():
        if _TRACEBACK in line:
            inside = True
        elif inside and line and not line[0].isspace():
            inside = False
            match = _RAISED.match(line)
            found.append(match[2] if match else line)
    return found


def _short(text: str) -> str:
    line = _TAIL.sub("", " ".join(text.split()))
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
