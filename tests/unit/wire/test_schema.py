import copy
import pickle

import pytest

from andiron.wire.schema import ZERO_UUID, array, boolean, i32, message, nested, records, string, struct, uuid


@struct
class Point:
    x: int = i32(default=-1)
    y: int = i32()


@message(api_key=7, versions=(1, 5), flexible=4)
class Drawing:
    """Points and what is known of them."""

    name: str | None = string(nullable=2, default=None)
    points: list[Point] = array(Point)
    more: list[int] | None = array(i32(), nullable=True, default=None)
    origin: Point = nested(Point)
    mark: Point | None = nested(Point, since=4, tag=0, default=None)
    visible: bool = boolean(since=3, default=True)
    drawing_id: bytes = uuid()
    batches: bytes | None = records(nullable=True)


def test_every_field_has_a_default() -> None:
    drawing = Drawing()

    assert (drawing.name, drawing.points, drawing.more) == (None, [], None)
    assert (drawing.origin, drawing.mark, drawing.visible) == (Point(-1, 0), None, True)
    assert (drawing.drawing_id, drawing.batches) == (ZERO_UUID, None)


def test_no_two_messages_share_a_default_that_can_change() -> None:
    one, other = Drawing(), Drawing()
    one.points.append(Point())
    one.origin.x = 5

    assert other == Drawing()


def test_fields_are_given_by_name_or_in_order() -> None:
    assert Point(3, 4) == Point(y=4, x=3)
    assert Point(3).y == 0


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="z"):
        Point(z=1)
    with pytest.raises(AttributeError):
        Point().z = 1


def test_messages_are_equal_by_value_and_have_no_hash() -> None:
    assert Drawing(points=[Point(1, 2)]) == Drawing(points=[Point(1, 2)])
    assert Drawing(points=[Point(1, 2)]) != Drawing(points=[Point(1, 3)])
    assert Point() != "a point"
    with pytest.raises(TypeError):
        hash(Point())


def test_a_message_shows_its_fields() -> None:
    assert repr(Point(1, 2)) == "Point(x=1, y=2)"


def test_a_message_can_be_matched_copied_and_pickled() -> None:
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)
    drawing = Drawing("d", [Point(1, 2)])
    assert copy.deepcopy(drawing) == drawing
    assert pickle.loads(pickle.dumps(drawing)) == drawing


def test_a_declaration_keeps_its_docstring_and_its_rows() -> None:
    assert Drawing.__doc__ == "Points and what is known of them."
    fields = {field.name: field for field in Drawing.__fields__}
    assert list(fields) == ["name", "points", "more", "origin", "mark", "visible", "drawing_id", "batches"]
    assert not fields["visible"].present(2)
    assert fields["visible"].present(3)
    assert fields["mark"].tagged(4)
    assert not fields["origin"].tagged(4)
