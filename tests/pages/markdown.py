"""What a page of Markdown shows to be typed.

    <!-- not run: it takes an hour -->      a remark, on the line before the fence; readers do not see it
    ```sh                                   the language
    make chaos                              the block
    ```

A block that is indented instead of fenced has no language, so nobody could know what to do with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^ *(`{3,}|~{3,}) *(\S*)")
REMARK = re.compile(r"^<!-- *(.*?) *-->$")
HEADING = re.compile(r"^#+ +(.*?) *$")
LIST_ITEM = re.compile(r"^ *([*+-]|\d+[.)]) ")
INDENT = "    "

NOT_RUN = "not run:"
RUN_BY = "run by "


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced or indented block; `line` is that of its first line, `remark` the comment right before it, `section` the
    heading that it is under."""

    language: str
    text: str
    line: int
    remark: str = ""
    indented: bool = False
    section: str = ""

    @property
    def why_not(self) -> str:
        """Why it is not run, if somebody has said so."""
        return self.remark.removeprefix(NOT_RUN).strip() if self.remark.startswith(NOT_RUN) else ""

    @property
    def run_by(self) -> str:
        """The test that runs it instead, if somebody has named one."""
        return self.remark.removeprefix(RUN_BY).strip() if self.remark.startswith(RUN_BY) else ""


def blocks_of(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    return read_blocks(page.read_text(encoding="utf-8"))


def read_blocks(page: str) -> list[Block]:
    """All blocks of a page's text, in order."""
    lines = page.splitlines()
    found: list[Block] = []
    at = 0
    section, in_list = "", False
    while at < len(lines):
        line = lines[at]
        fence = FENCE.match(line)
        if fence:
            end = at + 1
            while end < len(lines) and not lines[end].strip().startswith(fence[1]):
                end += 1
            indent = len(line) - len(line.lstrip())
            inside = [each[indent:] if not each[:indent].strip() else each for each in lines[at + 1 : end]]
            found.append(Block(fence[2], _text(inside), at + 2, _remark(lines, at), section=section))
            at = end + 1
        elif line.startswith(INDENT) and not in_list and (at == 0 or not lines[at - 1].strip()):
            end = at
            while end < len(lines) and (lines[end].startswith(INDENT) or not lines[end].strip()):
                end += 1
            inside = [each.removeprefix(INDENT) for each in lines[at:end]]
            found.append(Block("", _text(inside), at + 1, _remark(lines, at), indented=True, section=section))
            at = end
        else:
            if heading := HEADING.match(line):
                section = heading[1]
            if LIST_ITEM.match(line):
                in_list = True
            elif line.strip() and not line.startswith(" "):
                in_list = False
            at += 1
    return found


def _text(lines: list[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _remark(lines: list[str], at: int) -> str:
    """What the comment on the line before says, a blank line between them or not."""
    before = at - 1
    while before >= 0 and not lines[before].strip():
        before -= 1
    told = REMARK.match(lines[before].strip()) if before >= 0 else None
    return told[1] if told else ""
