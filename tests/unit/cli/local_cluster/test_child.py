"""A process, its log and why it ended."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from andiron.cli.local_cluster.child import Child, command

IGNORES = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
"""


def child(folder: Path, program: str) -> Child:
    return Child(1, [sys.executable, "-c", program], str(folder / "log"))


def ended(given: Child) -> Child:
    given.start()
    assert given.wait(30)
    return given


def test_it_is_started_as_a_user_starts_a_node() -> None:
    assert command("f", "--x")[1:] == ["-m", "andiron", "up", "--config", "f", "--until-stdin-closes", "--x"]


def test_a_child_that_has_not_begun_has_nothing_to_say(tmp_path: Path) -> None:
    new = child(tmp_path, "")

    assert (new.running, new.exit_code, new.pid, new.tail()) == (False, None, None, [])
    new.kill()
    assert new.wait(0)


def test_the_reason_is_what_it_said_itself(tmp_path: Path) -> None:
    failed = ended(child(tmp_path, "print('andiron: the port is taken'); print('bye'); raise SystemExit(1)"))

    assert failed.reason() == "the port is taken"
    assert failed.exit_code == 1
    assert failed.ended_with == "exit code 1"
    assert failed.tail() == ["andiron: the port is taken", "bye"]


def test_else_it_is_its_last_line(tmp_path: Path) -> None:
    assert ended(child(tmp_path, "1/0")).reason().startswith("ZeroDivisionError")
    assert (
        ended(child(tmp_path, "raise SystemExit(3)")).reason()
        == "it printed nothing and ended with exit code 3"
    )


def test_only_the_lines_of_this_start_count(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("andiron: yesterday\n")

    assert ended(child(tmp_path, "print('today')")).reason() == "today"
    assert "yesterday" in (tmp_path / "log").read_text()


def test_it_is_asked_to_stop_and_then_killed(tmp_path: Path) -> None:
    deaf = child(tmp_path, IGNORES)
    deaf.start()
    while not deaf.tail():
        time.sleep(0.01)
    deaf.terminate()
    assert not deaf.wait(0.1)

    deaf.kill()
    assert deaf.wait(30)
    assert deaf.ended_with == "SIGKILL"


def test_ctrl_c_at_the_terminal_does_not_reach_it(tmp_path: Path) -> None:
    apart = child(tmp_path, "input()")
    apart.start()
    try:
        assert apart.pid is not None
        assert os.getpgid(apart.pid) != os.getpgid(0)
    finally:
        apart.kill()
        apart.wait(30)


def test_a_signal_without_a_name_is_told_by_its_number(tmp_path: Path) -> None:
    odd = ended(child(tmp_path, f"import os; os.kill(os.getpid(), {int(signal.SIGRTMIN) + 3})"))

    assert odd.ended_with == f"signal {int(signal.SIGRTMIN) + 3}"
