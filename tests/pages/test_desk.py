"""The desk at which pages are typed notices what does not work: a page that fails must not pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pages.desk import Desk, Failed, compare, said_and_shown
from pages.markdown import Block


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Desk(tmp_path, "page.md") as made:
        yield made


def test_a_command_that_fails_is_told_with_its_line_and_what_it_said(desk: Desk) -> None:
    with pytest.raises(Failed, match=r"page.md:7 failed\n(?s:.*)no such thing\nfailed: "):
        desk.type_in(Block("sh", "echo no such thing >&2\nfalse | cat\necho went on\n", 7))


def test_what_was_exported_holds_for_the_next_block(desk: Desk) -> None:
    desk.type_in(Block("sh", "export B=9092 C=19092\n", 1))
    desk.type_in(Block("sh", f"test $B = {desk.port} && test $C = 19092\n", 1))


def test_a_snippet_has_the_names_of_the_one_before(desk: Desk) -> None:
    desk.type_in(Block("python", "name = 1\n", 1))
    desk.type_in(Block("python", "assert name == 1\n", 1))
    with pytest.raises(Failed, match=r'File "page.md:12", line 12'):
        desk.type_in(Block("python", "raise ValueError(name)\n", 12))


def test_the_next_page_finds_nothing_of_the_one_before_but_what_its_python_has_started(desk: Desk) -> None:
    with desk.turned_to("one.md"):
        desk.type_in(Block("python", "import sys; sys.started = name = 1\n", 1))
        desk.type_in(Block("sh", "export B=1\nmkdir -p made/here\ntouch file\n", 1))
    with desk.turned_to("two.md"):
        desk.type_in(Block("python", "assert __import__('sys').started and 'name' not in globals()\n", 1))
        desk.type_in(Block("sh", 'test -z "$B"\n! ls made file\nls README.md docs\n', 1))
        with pytest.raises(Failed, match=r"two.md:3 failed"):
            desk.type_in(Block("python", "raise SystemExit\n", 3))
    with desk.turned_to("three.md"):
        desk.type_in(Block("python", "print()\n", 1))


def test_what_is_shown_must_be_printed(desk: Desk) -> None:
    desk.type_in(Block("console", "$ echo 3 apples\n4 apples\n$ echo and pears\nand …\n", 1))
    with pytest.raises(AssertionError, match="not printed: 4 pears"):
        desk.type_in(Block("console", "$ echo 3 apples\n4 pears\n", 1))


def test_settings_that_nobody_knows_are_told(desk: Desk) -> None:
    desk.type_in(Block("properties", "log.retention.hours=24\n", 1))
    with pytest.raises(Exception, match=r"log\.retention\.ours"):
        desk.type_in(Block("properties", "log.retention.ours=24\n", 1))


def test_a_language_that_nobody_knows_is_told(desk: Desk) -> None:
    with pytest.raises(Failed, match="nobody knows how to run fish"):
        desk.type_in(Block("fish", "swim\n", 1))


def test_a_node_serves_the_blocks_behind_it_and_gives_way_to_the_next(desk: Desk) -> None:
    desk.type_in(Block("sh", "andiron up --data one\nandiron topic create one\n", 1))
    desk.type_in(Block("sh", "andiron up --data two\nandiron topic list\n! andiron topic describe one\n", 1))


def test_a_node_that_does_not_start_fails_its_block(desk: Desk) -> None:
    with pytest.raises(Failed, match=r"no\.such\.setting"):
        desk.type_in(Block("sh", "andiron up --set no.such.setting=1\n", 1))


def test_a_console_block_has_commands_and_what_they_print() -> None:
    assert said_and_shown("$ one\n$ two\na\n\nb\n") == [("one", []), ("two", ["a", "b"])]


def test_lines_that_are_shown_come_in_their_order() -> None:
    compare("a 1\nb\nc 1,234.5 ms\n", ["a 2", "c 9 ms"])
    with pytest.raises(AssertionError):
        compare("a\nb\n", ["b", "a"])
