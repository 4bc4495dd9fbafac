"""ApiVersions (key 18), versions 0-4: the APIs, versions and features that this node has.

The first thing every client asks, so it must be true: an API is in the list when it is
served, in the versions that are served. A version of this very request that is not known
here is answered in version 0 with UNSUPPORTED_VERSION and one row, this API's own range,
from which the client takes the version for its second try (`downgrade`).

Version 3 names the client's software (KIP-511) and tells the features (KIP-584); 4 may list features that begin at
level 0, which version 3 must leave out because clients of the time break on them (KAFKA-17011).
"""

from __future__ import annotations

import re

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.settings.listeners import Scope
from andiron.controller.features import KRAFT_VERSION, OFFERED
from andiron.model.errors import ErrorCode
from andiron.wire.apis import ApiKey
from andiron.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

API = ApiKey.API_VERSIONS
SERVED = ADVERTISED = (0, 4)
SCOPE = Scope.BOTH

SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(broker: Broker, request: Request[ApiVersionsRequest]) -> ApiVersionsResponse:
    body = request.body
    if request.version >= 3 and not (
        SOFTWARE.fullmatch(body.client_software_name) and SOFTWARE.fullmatch(body.client_software_version)
    ):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST.number)
    if request.version >= 3:
        broker.telemetry.introduced(request.conn, (body.client_software_name, body.client_software_version))
    levels = dict(broker.image.features)
    if level := broker.raft.voters.kraft_version:
        levels[KRAFT_VERSION] = level
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(key, *versions)
            for key, versions in sorted(broker.advertised[_scope(broker, request)].items())
        ],
        supported_features=[
            SupportedFeatureKey(name, least, most)
            for name, (least, most) in OFFERED.items()
            if least > 0 or request.version >= 4
        ],
        finalized_features_epoch=broker.metadata.applied - 1,
        finalized_features=[
            FinalizedFeatureKey(name, level, level) for name, level in sorted(levels.items())
        ],
    )


def _scope(broker: Broker, request: Request[ApiVersionsRequest]) -> Scope:
    is_controllers = request.listener in broker.settings.controller_listeners
    return Scope.CONTROLLER if is_controllers else Scope.BROKER


def downgrade() -> ApiVersionsResponse:
    """The answer, in version 0, to a version of ApiVersions that is not known here."""
    return ApiVersionsResponse(ErrorCode.UNSUPPORTED_VERSION.number, [ApiVersion(API, *SERVED)])
