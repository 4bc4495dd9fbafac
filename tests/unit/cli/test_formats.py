"""How a record is printed."""

from __future__ import annotations

import pytest

from andiron.cli.formats import TemplateError, compile_template, renderer
from andiron.cli.times import show_time
from andiron.model.ids import TopicPartition
from andiron.records.record import Record

P1 = TopicPartition("t", 1)
RECORD = Record(7, 1000, b"k", b"\xff", (("h", b"1"), ("g", None)))
TOMBSTONE = Record(8, 1000, None, None)


def show(record: Record = RECORD, template: str | None = None, **flags: bool) -> bytes:
    chosen = {"as_json": False, "keys": False, "headers": False, **flags}
    return renderer(template=template, **chosen)(P1, record)


def test_by_default_the_value_is_printed_as_it_is() -> None:
    assert show() == b"\xff\n"
    assert show(TOMBSTONE) == b"null\n"


def test_keys_and_headers_go_before_it() -> None:
    assert show(keys=True) == b"k\t\xff\n"
    assert show(keys=True, headers=True) == b"h=1,g=null\tk\t\xff\n"
    assert show(TOMBSTONE, keys=True, headers=True) == b"\tnull\tnull\n"


def test_json_is_one_line() -> None:
    assert show(as_json=True).endswith(b"}\n")


def test_a_template_has_a_letter_for_everything() -> None:
    date = show_time(1000).encode()

    assert (
        show(template="%t %p:%o %T %d %k=%v %h 100%%\\n")
        == b"t 1:7 1000 " + date + b" k=\xff h=1,g=null 100%\n"
    )


def test_escapes_are_characters_and_others_stay() -> None:
    assert show(template="a\\tb\\\\c\\x\\") == b"a\tb\\c\\x\\"


def test_a_template_of_nothing_prints_nothing() -> None:
    assert show(template="") == b""


@pytest.mark.parametrize("template", ["%q", "%"])
def test_a_letter_that_means_nothing_is_refused(template: str) -> None:
    with pytest.raises(TemplateError, match="means nothing"):
        compile_template(template)
