"""One line out of Spark's many."""

from __future__ import annotations

from andiron.spark.pipeline.failure_reason import LONGEST, failure_reason

FROM_PYTHON = """\
[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: py4j.Py4JException: An exception was raised by \
the Python Proxy. Return Message: Traceback (most recent call last):
  File "clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
  File "job.py", line 9, in sink
    raise ValueError("told to fail")
ValueError: told to fail
 SQLSTATE: XXKST
=== Streaming Query ===
Identifier: ticks [id = 1, runId = 2]
Current Committed Offsets: {}
"""


def test_what_python_raised_is_the_reason() -> None:
    assert failure_reason(FROM_PYTHON) == "told to fail"


def test_of_a_chain_the_last_counts() -> None:
    chain = FROM_PYTHON + (
        "During handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n  File x\n\n"
        "andiron.model.errors.Refused: OFFSET_OUT_OF_RANGE: orders-0 begins at 512\n"
    )
    assert failure_reason(chain) == "OFFSET_OUT_OF_RANGE: orders-0 begins at 512"


def test_an_error_without_words_is_named() -> None:
    assert failure_reason("Traceback (most recent call last):\n  File x\nKeyError\n") == "KeyError"


def test_without_python_it_is_the_message_before_the_stack() -> None:
    told = "[STREAM_FAILED] Query [id = 1] terminated with exception: disk\nis full SQLSTATE: XXKST\n\tat org.apache"
    assert failure_reason(told) == "disk is full"


def test_it_stays_a_line() -> None:
    assert len(failure_reason("word " * 1_000)) == LONGEST
    assert failure_reason("plain") == "plain"
