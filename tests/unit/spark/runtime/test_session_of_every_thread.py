"""Which session is active on a thread while it writes; the JVM is played."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from andiron.spark.runtime import session
from andiron.spark.runtime.session import write_from_every_thread


class Thread:
    """What a thread of the JVM knows of sessions."""

    def __init__(self, active: str | None = None) -> None:
        self.active = active

    def getActiveSession(self) -> Any:
        found = self.active
        return SimpleNamespace(isDefined=lambda: found is not None, get=lambda: found)

    def setActiveSession(self, session: str) -> None:
        self.active = session

    def clearActiveSession(self) -> None:
        self.active = None


class Writer:
    """As PySpark's: it knows the session of its DataFrame."""

    def __init__(self, thread: Thread) -> None:
        jvm = SimpleNamespace(**{"org.apache.spark.sql.classic.SparkSession": thread})
        self._spark = SimpleNamespace(_jvm=jvm, _jsparkSession="its own")
        self._thread = thread

    def save(self, path: str = "", **options: str) -> tuple[str | None, str, dict[str, str]]:
        if path == "nowhere":
            raise ValueError(path)
        return self._thread.active, path, options


@pytest.fixture(autouse=True)
def writers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Writer, "save", Writer.save)  # as it was, after the test
    monkeypatch.setattr(session, "WRITES", ((Writer, "save"),))
    write_from_every_thread()


@pytest.mark.parametrize("before", [None, "another"])
def test_a_writers_session_is_active_while_it_writes_and_no_longer(before: str | None) -> None:
    thread = Thread(before)

    assert Writer(thread).save("there", mode="append") == ("its own", "there", {"mode": "append"})
    assert thread.active == before


def test_a_write_that_fails_leaves_the_thread_as_it_was() -> None:
    thread = Thread("another")

    with pytest.raises(ValueError, match="nowhere"):
        Writer(thread).save("nowhere")
    assert thread.active == "another"


def test_it_may_be_said_again() -> None:
    once = Writer.save
    write_from_every_thread()

    assert Writer.save is once
