"""A plot is well-formed, keeps within its frame, and tells itself in words."""

from __future__ import annotations

from xml.etree import ElementTree

from andiron.chaos.svg import LEFT, RIGHT, Frame


def test_values_lie_where_the_scale_has_them() -> None:
    frame = Frame(400, 200, (0.0, 10.0), (1.0, 100.0), log=True)

    assert frame.x(0.0) == LEFT
    assert frame.x(10.0) == 400 - RIGHT
    assert frame.y(1.0) > frame.y(10.0) > frame.y(100.0)
    assert frame.y(10.0) - frame.y(100.0) == frame.y(1.0) - frame.y(10.0)


def test_what_lies_outside_is_drawn_at_the_edge() -> None:
    frame = Frame(400, 200, (0.0, 10.0), (1.0, 100.0), log=True)

    assert frame.x(99.0) == frame.x(10.0)
    assert frame.y(0.0) == frame.y(1.0)


def test_what_is_drawn_is_xml_whatever_it_says() -> None:
    frame = Frame(400, 200, (0.0, 24.0), (0.0, 5.0))
    frame.seconds()
    frame.values([1.0, 5.0], "ms")
    frame.mark(3.0, "a < b & c")
    frame.box(0, 0, 10, 10, "kind", 'says "hello"')
    frame.path([(0.0, 1.0), (1.0, 2.0)], "p50")
    frame.path([], "p99")
    frame.dots([(1.0, 1.0)], "lost")

    drawn = ElementTree.fromstring(frame.render("a < plot"))

    assert drawn.attrib["aria-label"] == "a < plot"
    assert [each.text for each in drawn.iter("title")] == ['says "hello"']
    assert len(list(drawn.iter("polyline"))) == 1


def test_a_span_without_length_has_a_place_too() -> None:
    frame = Frame(400, 200, (0.0, 0.0))

    assert frame.x(0.0) == LEFT
