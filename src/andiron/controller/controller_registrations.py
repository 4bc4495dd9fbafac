"""Controller registrations (KIP-919): a controller says where it listens, and which features it knows.

Tools that ask controllers (`--bootstrap-controller`) are told of it, and no feature is raised above what one of them
knows. Who votes is another matter, and the quorum's.

Read next: image.py, on what is kept of it; broker/metadata/controller_registration.py, which asks.
"""

from __future__ import annotations

from andiron.controller.image import ControllerImage, Image
from andiron.controller.records import (
    ControllerEndpoint,
    ControllerFeature,
    MetadataRecord,
    RegisterControllerRecord,
)
from andiron.model.errors import ErrorCode
from andiron.model.ids import NodeId
from andiron.model.machine import Decision
from andiron.wire.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)


def register_controller(request: ControllerRegistrationRequest, image: Image) -> Decision[MetadataRecord]:
    """Note down where a controller is; nothing is written for one that says what it said before."""
    if request.controller_id < 0 or not request.listeners:
        raise ErrorCode.INVALID_REQUEST.error("a controller has a number and a listener")
    record = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        end_points=[
            ControllerEndpoint(each.name, each.host, each.port, each.security_protocol)
            for each in request.listeners
        ],
        features=[
            ControllerFeature(each.name, each.min_supported_version, each.max_supported_version)
            for each in request.features
        ],
    )
    is_known = image.controllers.get(NodeId(request.controller_id)) == ControllerImage.of(record)
    return Decision(ControllerRegistrationResponse(), [] if is_known else [record])
