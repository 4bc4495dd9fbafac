"""How a command fails: one line on stderr that says what went wrong and what to do, and exit code 1.

The client says what happened in the words of the protocol; the hints here are for the person at the
keyboard, and so name options and commands.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import IO, Any, NoReturn, TypeVar

import click

from andiron.model.errors import AndironError, ErrorCode, ProtocolError

R = TypeVar("R")

INTERRUPTED = 130  # as a shell reports a process that Ctrl-C ended

_HINTS = {
    ErrorCode.BROKER_NOT_AVAILABLE: "start a node with `andiron up`, or name another with --bootstrap",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "`andiron topic list` shows what there is, `andiron topic create` makes one",
    ErrorCode.TOPIC_ALREADY_EXISTS: "--if-not-exists takes that for success",
    ErrorCode.MESSAGE_TOO_LARGE: "raise max.message.bytes of the topic, or send smaller records",
    ErrorCode.NOT_ENOUGH_REPLICAS: "see `andiron topic describe` for the replicas that are in sync",
    ErrorCode.OFFSET_OUT_OF_RANGE: "see `andiron topic describe` for the offsets that are there",
    ErrorCode.GROUP_ID_NOT_FOUND: "`andiron group list` shows what there is",
    ErrorCode.NON_EMPTY_GROUP: "stop its members first; `andiron group describe` shows them",
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC: "stop the members that are; `andiron group describe` shows them",
    ErrorCode.UNKNOWN_MEMBER_ID: "`andiron group describe` shows the members of a group",
    ErrorCode.TRANSACTIONAL_ID_NOT_FOUND: "`andiron transaction list` shows what there is",
    ErrorCode.NOT_CONTROLLER: "a majority of the voters must be alive; see `andiron cluster quorum`",
    ErrorCode.BROKER_ID_NOT_REGISTERED: "`andiron cluster describe` shows the brokers",
    ErrorCode.VOTER_NOT_FOUND: "`andiron cluster quorum` shows the voters",
    ErrorCode.INVALID_CONFIG: "`andiron config get` with --all lists the settings there are",
}


class Failure(click.ClickException):
    """A failure in one line; exit code 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line on stderr, with the program's name before it."""
        click.echo(f"andiron: {self.format_message()}", err=True)


def explain(error: Exception) -> str:
    """What went wrong, and what to do about it where we know."""
    if isinstance(error, ProtocolError):
        told = " ".join(error.detail.split()).rstrip(".")
        hint = _HINTS.get(error.code)
        return f"{told}; {hint}" if hint else told
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}" if error.filename else error.strerror.lower()
    return " ".join(str(error).split())


def in_one_line(run: Callable[[], R]) -> R:
    """Run a command; what goes wrong in it ends in one line, or in none where none is due."""
    try:
        return run()
    except BrokenPipeError:
        _leave_quietly()
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None
    except (AndironError, OSError) as error:
        raise Failure(explain(error)) from error


def _leave_quietly() -> NoReturn:
    """End without an error on a broken pipe: whoever read our output has had enough (`andiron consume … | head`)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise click.exceptions.Exit(0)
