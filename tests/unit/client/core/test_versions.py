"""The highest version in common, and the dance when a broker does not know ours."""

from __future__ import annotations

import pytest

from andiron.client.core.versions import Versions, version_to_ask_again
from andiron.model.errors import ErrorCode, Refused
from andiron.wire.apis import APIS, ApiKey
from andiron.wire.messages.api_versions import ApiVersion, ApiVersionsResponse

UNSUPPORTED = ErrorCode.UNSUPPORTED_VERSION.number


def test_the_highest_in_common_is_spoken() -> None:
    assert Versions({ApiKey.METADATA: (0, 9)}).pick(ApiKey.METADATA) == 9
    assert Versions({ApiKey.METADATA: (0, 99)}).pick(ApiKey.METADATA) == APIS[ApiKey.METADATA].versions[1]


def test_a_limit_of_ones_own_is_kept() -> None:
    assert Versions({ApiKey.PRODUCE: (0, 13)}).pick(ApiKey.PRODUCE, at_most=12) == 12


def test_an_api_that_is_not_served_is_named() -> None:
    with pytest.raises(Refused, match="does not serve DescribeCluster"):
        Versions({}).pick(ApiKey.DESCRIBE_CLUSTER)


@pytest.mark.parametrize("theirs", [(0, 2), (19, 30)])
def test_nothing_in_common_is_told_with_both_ranges(theirs: tuple[int, int]) -> None:
    with pytest.raises(Refused, match=f"serves Fetch {theirs[0]} to {theirs[1]}"):
        Versions({ApiKey.FETCH: theirs}).pick(ApiKey.FETCH)


def test_what_a_broker_told_is_what_it_speaks() -> None:
    told = ApiVersionsResponse(api_keys=[ApiVersion(3, 0, 9), ApiVersion(1, 4, 11)])

    assert Versions.of(told).ranges == {3: (0, 9), 1: (4, 11)}


def test_an_answer_that_is_none_of_this_is_the_answer() -> None:
    assert version_to_ask_again(ApiVersionsResponse(), asked=4) is None


def test_a_broker_is_asked_again_within_its_range() -> None:
    told = ApiVersionsResponse(UNSUPPORTED, [ApiVersion(ApiKey.API_VERSIONS, 0, 2)])

    assert version_to_ask_again(told, asked=4) == 2


def test_a_broker_that_tells_no_range_is_asked_in_version_0() -> None:
    assert version_to_ask_again(ApiVersionsResponse(UNSUPPORTED), asked=4) == 0


def test_the_dance_ends_at_version_0() -> None:
    assert version_to_ask_again(ApiVersionsResponse(UNSUPPORTED), asked=0) is None


def test_a_broker_that_names_the_refused_version_is_asked_in_version_0() -> None:
    told = ApiVersionsResponse(UNSUPPORTED, [ApiVersion(ApiKey.API_VERSIONS, 0, 4)])

    assert version_to_ask_again(told, asked=4) == 0


def test_what_only_later_versions_say_is_refused_by_earlier_ones() -> None:
    versions = Versions({ApiKey.LIST_GROUPS: (0, 4)})
    versions.require(ApiKey.LIST_GROUPS, 4, "a filter by state")

    with pytest.raises(Refused, match="a filter by type needs ListGroups 5; this broker serves 4"):
        versions.require(ApiKey.LIST_GROUPS, 5, "a filter by type")
