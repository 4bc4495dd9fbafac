"""A controller is what it registered as."""

from __future__ import annotations

from andiron.controller.controller_image import ControllerImage
from andiron.controller.records import ControllerEndpoint, ControllerFeature, RegisterControllerRecord


def test_it_has_what_its_record_says_and_is_found_by_listener():
    record = RegisterControllerRecord(
        3,
        b"i" * 16,
        end_points=[ControllerEndpoint("CONTROLLER", "host", 9093, 0)],
        features=[ControllerFeature("group.version", 0, 1)],
    )
    controller = ControllerImage.of(record)

    assert (controller.id, controller.incarnation) == (3, b"i" * 16)
    assert controller.features == (("group.version", 0, 1),)
    assert controller.endpoint("CONTROLLER") == ("host", 9093)
    assert controller.endpoint("OTHER") is None
