"""SaslAuthenticate (key 36), versions 0-2: one token of a SASL exchange, each way.

Version 1 says for how long the session holds before the client must authenticate again. Flexible
since 2.
"""

from __future__ import annotations

from andiron.wire.schema import data, i16, i64, message, string


@message(api_key=36, versions=(0, 2), flexible=2)
class SaslAuthenticateRequest:
    auth_bytes: bytes = data()


@message(api_key=36, versions=(0, 2), flexible=2)
class SaslAuthenticateResponse:
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    auth_bytes: bytes = data()
    session_lifetime_ms: int = i64(since=1)
