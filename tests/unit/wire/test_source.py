import struct
import traceback

from andiron.wire.source import MANY_KEPT, Many, Source


def doubling() -> Source:
    source = Source("double")
    with source.block("def double(buf):"):
        source.line(f"(value,) = {source.packed('unpack_from', 'i')}(buf)")
        source.line("return value * 2")
    return source


def test_lines_become_a_function_that_carries_its_text() -> None:
    double = doubling().function("double")

    assert double(struct.pack(">i", 21)) == 42
    assert "return value * 2" in double.source


def test_a_traceback_shows_the_generated_line() -> None:
    double = doubling().function("double")
    try:
        double(b"")
    except struct.error:
        shown = traceback.format_exc()

    assert 'File "<andiron double>", line 2' in shown
    assert "(value,) = unpack_from_i(buf)" in shown


def test_locals_never_collide() -> None:
    source = Source("locals")

    assert source.local("n") != source.local("n")


def test_two_values_of_one_name_get_two_names() -> None:
    source = Source("names")
    first, second = object(), object()

    assert source.name("Thing", first) == source.name("Thing", first) == "Thing"
    other = source.name("Thing", second)
    assert other != "Thing"
    assert source.names[other] is second


def test_functions_for_many_numbers_are_kept_while_they_are_few() -> None:
    many = Many("pack", "h")

    assert many[2](1, 2) == b"\0\1\0\2"
    assert many[2] is many[2]
    assert many[MANY_KEPT + 1](*range(MANY_KEPT + 1))
    assert list(many) == [2]
