"""The session as it starts for a user: settings, Python, time."""

from __future__ import annotations

import sys


def test_the_session_works_in_utc_with_this_python(spark):
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    found = spark.range(1).mapInArrow(_interpreter, "python string").collect()
    assert found[0].python == sys.executable


def _interpreter(batches):
    for batch in batches:
        yield type(batch).from_pydict({"python": [sys.executable]})


def test_a_topic_of_the_test_is_written_and_read(topics):
    topic = topics.make(2)
    topics.write(topic, ["a", "b"], partition=1)
    assert topics.values(topic) == ["a", "b"]
