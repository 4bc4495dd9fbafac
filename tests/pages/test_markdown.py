"""The reader of pages finds what they show to be typed, and what is remarked of it."""

from __future__ import annotations

from pages.markdown import Block, read_blocks


def test_a_fence_has_a_language_a_line_and_a_text() -> None:
    assert read_blocks("# Page\n\n```sh\nmake run\nmake test\n```\n") == [
        Block("sh", "make run\nmake test\n", 4, section="Page")
    ]


def test_a_remark_right_before_a_block_belongs_to_it() -> None:
    page = "<!-- not run: it takes an hour -->\n```sh\nmake chaos\n```\n\n```sh\nmake run\n```\n"
    first, second = read_blocks(page)

    assert first.why_not == "it takes an hour"
    assert not second.remark


def test_a_remark_may_name_the_test_that_runs_a_block() -> None:
    (block,) = read_blocks("<!-- run by tests/spark/test_sink.py -->\n\n```python\nprint()\n```\n")

    assert block.run_by == "tests/spark/test_sink.py"
    assert not block.why_not


def test_a_block_is_under_a_heading() -> None:
    blocks = read_blocks("```sh\none\n```\n## A\n```sh\n# two\n```\n```sh\nthree\n```\n### B\n\n    four\n")

    assert [block.section for block in blocks] == ["", "A", "A", "B"]


def test_an_indented_block_is_found_too() -> None:
    assert read_blocks("Type\n\n    make run\n\n    make test\n\nand wait.\n") == [
        Block("", "make run\n\nmake test\n", 3, indented=True)
    ]


def test_what_goes_on_in_a_list_is_no_block() -> None:
    assert read_blocks("* one\n\n    more of it\n\ntext\n  continued\n") == []


def test_a_fence_within_a_list_loses_its_indent_and_nothing_else() -> None:
    (block,) = read_blocks("1. type\n\n   ```sh\n   if true; then\n     make run\n   fi\n   ```\n")

    assert block.text == "if true; then\n  make run\nfi\n"


def test_what_looks_like_a_fence_within_one_does_not_end_it() -> None:
    (block,) = read_blocks("````text\n```sh\nmake\n```\n````\n")

    assert block.text == "```sh\nmake\n```\n"
