"""SaslHandshake (key 17), versions 0-1: which SASL mechanism is to be spoken.

After version 0 the mechanism's tokens follow without a header, after 1 they come as SaslAuthenticate.
Never flexible.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, message, string


@message(api_key=17, versions=(0, 1))
class SaslHandshakeRequest:
    mechanism: str = string()


@message(api_key=17, versions=(0, 1))
class SaslHandshakeResponse:
    error_code: int = i16()
    mechanisms: list[str] = array(string())
