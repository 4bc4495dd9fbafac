"""A story's text: a title, prose, commands, and what each is said to print.

    A title, with the KIP that it tells
                                            prose, in paragraphs
    $ kill 1                                a command
    $ describe orders                       another, and below it what it prints, up to a blank line
    orders-0  leader=2 epoch=1 …

Read next: stage.py, which knows the commands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

COMMAND = "$ "


@dataclass(slots=True)
class Part:
    """Prose, or a command with the lines that it prints."""

    lines: list[str] = field(default_factory=list)
    command: str = ""
    line: int = 0


@dataclass(slots=True)
class Story:
    """All parts of a story's text, in order."""

    parts: list[Part]

    @classmethod
    def read(cls, text: str) -> Story:
        """Take a text apart; `str` puts it together again."""
        parts = [Part()]
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith(COMMAND):
                parts.append(Part(command=line.removeprefix(COMMAND), line=number))
            elif parts[-1].command and not line.strip():
                parts.append(Part([line]))
            else:
                parts[-1].lines.append(line)
        return cls(parts)

    def __str__(self) -> str:
        lines = [line for part in self.parts for line in (*_typed(part), *part.lines)]
        return "\n".join(lines) + "\n"

    @property
    def title(self) -> str:
        return self.parts[0].lines[0] if self.parts[0].lines else ""

    def play(self, run: Callable[[str], list[str]]) -> Story:
        """The same story with what its commands print now."""
        return Story(
            [Part(_run(run, part), part.command, part.line) if part.command else part for part in self.parts]
        )


def _typed(part: Part) -> list[str]:
    return [COMMAND + part.command] if part.command else []


def _run(run: Callable[[str], list[str]], part: Part) -> list[str]:
    try:
        return run(part.command)
    except Exception as error:
        error.add_note(f"line {part.line}: {part.command}")
        raise
