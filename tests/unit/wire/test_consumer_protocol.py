"""Subscriptions and assignments, byte for byte beside kio, and what clients make of them."""

from __future__ import annotations

import io
import struct
from importlib import import_module
from typing import Any

import pytest
from kio.serial import entity_writer

from andiron.wire.consumer_protocol import (
    VERSION_MAX,
    AssignedTopic,
    Assignment,
    Subscription,
    read_assignment,
    read_subscription,
    versioned_bytes,
)
from andiron.wire.primitives import MalformedMessage

VERSIONS = range(VERSION_MAX + 1)


def kio_module(name: str, version: int) -> Any:
    return import_module(f"kio.schema.{name}.v{version}.data")


def kio_bytes(entity: Any, version: int) -> bytes:
    out = io.BytesIO()
    entity_writer(type(entity))(out, entity)
    return struct.pack(">h", version) + out.getvalue()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_subscription_has_kios_bytes_and_is_read_back(version: int) -> None:
    module = kio_module("consumer_protocol_subscription", version)
    ours = Subscription(["a", "b"], b"user")
    theirs: dict[str, Any] = {"topics": ("a", "b"), "user_data": b"user"}
    if version >= 1:
        ours.owned_partitions = [AssignedTopic("a", [0, 2])]
        theirs["owned_partitions"] = (module.TopicPartition(topic="a", partitions=(0, 2)),)
    if version >= 2:
        ours.generation_id = theirs["generation_id"] = 7
    if version >= 3:
        ours.rack_id = theirs["rack_id"] = "r1"
    encoded = versioned_bytes(ours, version)

    assert encoded == kio_bytes(module.ConsumerProtocolSubscription(**theirs), version)
    assert read_subscription(encoded) == ours


@pytest.mark.parametrize("version", VERSIONS)
def test_an_assignment_has_kios_bytes_and_is_read_back(version: int) -> None:
    module = kio_module("consumer_protocol_assignment", version)
    topics = (module.TopicPartition(topic="a", partitions=(0, 2)),)
    theirs = module.ConsumerProtocolAssignment(assigned_partitions=topics, user_data=None)
    ours = Assignment([AssignedTopic("a", [0, 2])])

    assert versioned_bytes(ours, version) == kio_bytes(theirs, version)
    assert read_assignment(versioned_bytes(ours, version)) == ours


def test_a_later_version_is_read_as_the_last_known_one() -> None:
    later = struct.pack(">h", 9) + versioned_bytes(Subscription(["a"], rack_id="r"))[2:] + b"more"

    assert read_subscription(later) == Subscription(["a"], rack_id="r")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_without_what_it_added_is_read_as_far_as_it_goes(version: int) -> None:
    short = struct.pack(">h", version) + versioned_bytes(Subscription(["a"], b"user"), 0)[2:]

    assert read_subscription(short) == Subscription(["a"], b"user")


def test_no_bytes_are_an_assignment_of_nothing() -> None:
    assert read_assignment(b"") == Assignment()


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xff", b"\0\0\0\0\0\x05a", b"\0\0\xff\xff\xff\xfe"])
def test_what_is_no_subscription_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedMessage):
        read_subscription(data)
