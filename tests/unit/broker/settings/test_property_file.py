"""`server.properties` is read as Java reads it."""

from __future__ import annotations

import pytest

from andiron.broker.settings.property_file import parse_properties
from andiron.model.settings import SettingError


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("", {}),
        ("a=1", {"a": "1"}),
        ("a = 1", {"a": "1"}),
        ("a: 1", {"a": "1"}),
        ("a 1", {"a": "1"}),
        ("a\t=\t1", {"a": "1"}),
        ("a=b=c", {"a": "b=c"}),
        ("a=x:y", {"a": "x:y"}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("=1", {"": "1"}),
        ("# a=1\n  ! b=2\n\n  c=3", {"c": "3"}),
        ("a=1 # not a comment", {"a": "1 # not a comment"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=1,\\\n    2", {"a": "1,2"}),
        ("a=1,\\\n# 2", {"a": "1,# 2"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a=1\\", {"a": "1"}),
        ("a\\=b=c", {"a=b": "c"}),
        ("a\\ b=c", {"a b": "c"}),
        ("a=\\t\\n\\r\\f\\q", {"a": "\t\n\r\fq"}),
        ("a=\\u00e9", {"a": "é"}),
        ("a=trailing ", {"a": "trailing "}),
    ],
)
def test_a_file_is_read_as_java_reads_it(text, given):
    assert parse_properties(text) == given


@pytest.mark.parametrize("text", ["a=\\u12", "\n\na=\\uwxyz"])
def test_a_bad_escape_names_its_line(text):
    with pytest.raises(SettingError, match=f"line {text.count(chr(10)) + 1}: .*four digits"):
        parse_properties(text)
