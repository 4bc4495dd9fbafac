"""Python source that is written line by line and then run: the paper that codecs are printed on.

The text is kept on the function (`fn.source`) and registered with `linecache`, so that a
traceback or a debugger that ends up in generated code shows its lines like any other's.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from struct import Struct
from typing import Any

MANY_KEPT = 64


class Many(dict[int, Callable[..., Any]]):
    """n -> the function that packs or unpacks n numbers of one kind; that of a long array is not kept."""

    def __init__(self, verb: str, letter: str) -> None:
        super().__init__()
        self.verb, self.letter = verb, letter

    def __missing__(self, count: int) -> Callable[..., Any]:
        made: Callable[..., Any] = getattr(Struct(f">{count}{self.letter}"), self.verb)
        if count <= MANY_KEPT:
            self[count] = made
        return made


class Source:
    """The lines of one function, and the global names that they use."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}
        self._depth = 0
        self._taken = 0

    def line(self, text: str) -> None:
        """One line at the present depth."""
        self.lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A line that ends in a colon, and what stands under it."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    def local(self, stem: str) -> str:
        """A variable that nothing else in the function uses."""
        self._taken += 1
        return f"{stem}{self._taken}"

    def name(self, name: str, value: Any) -> str:
        """A global name for a value; another value of the same name gets a number."""
        wanted = name
        while self.names.setdefault(name, value) is not value:
            self._taken += 1
            name = f"{wanted}_{self._taken}"
        return name

    def packed(self, verb: str, letters: str) -> str:
        """A global name for Struct(letters).pack or .unpack_from, such as `pack_ihq`."""
        name = f"{verb}_{letters.replace('?', 'T')}"
        if name not in self.names:
            self.names[name] = getattr(Struct(f">{letters}"), verb)
        return name

    def function(self, name: str) -> Callable[..., Any]:
        """Run the source; return the function of that name, its text attached."""
        text = "\n".join(self.lines) + "\n"
        filename = f"<andiron {self.title}>"
        exec(compile(text, filename, "exec"), self.names)
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        made: Callable[..., Any] = self.names[name]
        vars(made)["source"] = text
        return made
