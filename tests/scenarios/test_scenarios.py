"""Every story comes out as it is told, and not with a bug in what it tells."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenarios.stage import Stage
from scenarios.story import Story
from simulation.cluster_bugs import BUGS

HERE = Path(__file__).parent
STORIES = sorted(HERE.glob("*.txt"))
every_story = pytest.mark.parametrize("path", STORIES, ids=[path.stem for path in STORIES])


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@every_story
def test_a_story_comes_out_as_it_is_told(path: Path, request: pytest.FixtureRequest) -> None:
    told = path.read_text(encoding="utf-8")
    played = str(Story.read(told).play(Stage().run))
    if request.config.getoption("--rewrite", default=False):
        path.write_text(played, encoding="utf-8")
    else:
        assert played.splitlines() == told.splitlines(), "if it is meant: pytest tests/scenarios --rewrite"


@every_story
def test_a_story_is_in_the_table_of_contents_under_its_title(path: Path) -> None:
    title = Story.read(path.read_text(encoding="utf-8")).title
    assert f"| [{path.stem}]({path.name}) | {title} |" in (HERE / "README.md").read_text(encoding="utf-8")


def test_every_command_is_explained() -> None:
    page = (HERE / "README.md").read_text(encoding="utf-8")
    assert [name for name in Stage.commands() if f"`{name}" not in page] == []


@pytest.mark.parametrize(
    ("bug", "story"),
    [
        ("a_follower_never_gives_way", "kip-101-leader-epochs"),
        ("the_watermark_does_not_wait_for_followers", "acks"),
        ("consumers_are_shown_what_is_not_committed", "acks"),
        ("acks_all_is_answered_before_the_followers_have_it", "isr-shrink"),
        ("a_leader_does_not_ask_for_two_in_sync", "min-insync-replicas"),
        ("any_replica_may_lead", "unclean-election"),
        ("epochs_of_leaders_are_not_told_apart", "kip-320-fencing"),
    ],
)
def test_a_story_does_not_come_out_with_a_bug_in_what_it_tells(bug: str, story: str) -> None:
    told = (HERE / f"{story}.txt").read_text(encoding="utf-8")
    with BUGS[bug]():  # type: ignore[attr-defined]
        try:
            played = str(Story.read(told).play(Stage().run))
        except AssertionError:
            return  # what `until` waits for never comes, or a node finds out by itself

    assert played != told


def test_what_is_read_is_written_again_as_it_was() -> None:
    text = "A title\n\nProse.\n\n$ one\nprinted\n$ two\n\nMore prose,\non two lines.\n\n$ three\n"

    assert str(Story.read(text)) == text


def test_a_rewrite_replaces_what_is_printed_and_nothing_else() -> None:
    text = "A title\n\n$ say hello\nold\nlines\n\nProse.\n"

    played = Story.read(text).play(lambda command: [command.removeprefix("say ")])

    assert str(played) == "A title\n\n$ say hello\nhello\n\nProse.\n"
