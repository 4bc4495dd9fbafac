"""What stays is put aside once, when it is there."""

from __future__ import annotations

import gc
import os
import socket
from typing import BinaryIO

import pytest

from andiron.spark.runtime import python_worker


def test_the_second_task_of_a_kind_puts_aside_what_the_first_has_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frozen: list[str] = []
    monkeypatch.setattr(python_worker, "_tasks", {})
    for number, kind in enumerate(["read", "read", "read", "write", "write", "read"]):
        monkeypatch.setattr(gc, "freeze", lambda at=f"{kind} {number}": frozen.append(at))
        python_worker.begin_task(kind)

    assert frozen == ["read 1", "write 4"]


@pytest.mark.parametrize("is_there", [True, False])
def test_what_nobody_is_there_to_hear_is_told_to_nobody(is_there: bool) -> None:
    def main(asked: BinaryIO, told: BinaryIO) -> None:
        told.write(b"end of file")
        raise SystemExit(-1)

    mine, spark = socket.socketpair()
    with mine, spark, open(os.dup(mine.fileno()), "rb") as asked, open(os.dup(mine.fileno()), "wb") as told:
        if not is_there:
            spark.close()
        with pytest.raises(SystemExit):
            python_worker.quiet_at_the_end(main)(asked, told)
        told.flush()
        if is_there:
            assert spark.recv(100) == b"end of file"
