"""ApiVersions (KIP-35, KIP-511): the highest version of each API that a client and a broker have in common.

    ours   APIS[key].versions        ├──────────────┤
    theirs what ApiVersions told          ├──────────────┤
    spoken                                          ▲ the highest in common

A connection begins with ApiVersions, in the highest version we know. A broker that does not know that one
answers in version 0 with UNSUPPORTED_VERSION and the range it has, and is asked again within that range; a
broker too old to tell its range is asked in version 0.
"""

from __future__ import annotations

from collections.abc import Mapping

from andiron.model.errors import ErrorCode
from andiron.wire.apis import APIS, ApiKey
from andiron.wire.messages.api_versions import ApiVersionsResponse


class Versions:
    """The API versions of one broker."""

    __slots__ = ("ranges",)

    def __init__(self, ranges: Mapping[int, tuple[int, int]]) -> None:
        self.ranges = ranges

    @classmethod
    def of(cls, response: ApiVersionsResponse) -> Versions:
        """As a broker told them."""
        return cls({each.api_key: (each.min_version, each.max_version) for each in response.api_keys})

    def pick(self, api_key: int, at_most: int | None = None) -> int:
        """The version to speak; UNSUPPORTED_VERSION where there is none in common."""
        api = APIS[api_key]
        if api_key not in self.ranges:
            raise ErrorCode.UNSUPPORTED_VERSION.error(f"this broker does not serve {api.name}")
        first, last = self.ranges[api_key]
        ours = api.versions[1] if at_most is None else min(at_most, api.versions[1])
        version = min(last, ours)
        if version < max(first, api.versions[0]):
            raise ErrorCode.UNSUPPORTED_VERSION.error(
                f"this broker serves {api.name} {first} to {last}; {api.versions[0]} to {ours} is spoken here"
            )
        return version

    def require(self, api_key: int, least: int, what: str) -> None:
        """Raise UNSUPPORTED_VERSION if the broker has no version of an API from `least` on, which `what` needs."""
        version = self.pick(api_key)
        if version < least:
            raise ErrorCode.UNSUPPORTED_VERSION.error(
                f"{what} needs {APIS[api_key].name} {least}; this broker serves {version}"
            )


def version_to_ask_again(answer: ApiVersionsResponse, asked: int) -> int | None:
    """The version in which to repeat ApiVersions after UNSUPPORTED_VERSION; None if it was understood."""
    if answer.error_code != ErrorCode.UNSUPPORTED_VERSION.number or asked == 0:
        return None
    for each in answer.api_keys:
        if each.api_key == ApiKey.API_VERSIONS and each.min_version <= each.max_version < asked:
            return each.max_version
    return 0
