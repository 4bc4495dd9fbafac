"""Ids for producers: each given once, for ever."""

import pytest

from andiron.wire.messages.find_coordinator import FindCoordinatorRequest
from andiron.wire.messages.init_producer_id import InitProducerIdRequest
from worlds.node import error_of


def new_id(node, version=5):
    response = node.ask(InitProducerIdRequest(None, 1_000), version)
    assert (error_of(response), response.producer_epoch) == ("NONE", 0)
    return response.producer_id


@pytest.mark.parametrize("version", range(6))
def test_an_id_is_given_with_epoch_0(node, version):
    assert new_id(node, version) >= 0


def test_no_id_is_given_twice_not_after_a_restart_and_not_after_a_crash(node):
    seen = [new_id(node) for _ in range(3)]
    for clean in (True, False):
        node.restart(clean)
        seen += [new_id(node) for _ in range(3)]

    assert len(set(seen)) == len(seen)


def test_only_the_first_of_a_block_waits_for_the_controller(node):
    node.flush_at_once = False
    ticket = node.send(InitProducerIdRequest(None, 1_000))
    assert node.answer(ticket) is None
    node.do_flushes()
    first = node.answer(ticket).producer_id

    assert [new_id(node) for _ in range(3)] == [first + 1, first + 2, first + 3]


def test_ids_that_are_asked_for_at_once_are_different(node):
    node.flush_at_once = False
    tickets = [node.send(InitProducerIdRequest(None, 1_000)) for _ in range(3)]

    node.do_flushes()

    assert len({node.answer(ticket).producer_id for ticket in tickets}) == 3


def test_a_block_that_is_used_up_is_followed_by_another(node):
    seen = [new_id(node) for _ in range(1_002)]

    assert len(set(seen)) == 1_002


@pytest.mark.parametrize(
    ("transactional_id", "given", "code"),
    [("tx", (-1, -1), "NOT_COORDINATOR"), ("", (-1, -1), "INVALID_REQUEST"),
     (None, (5, -1), "INVALID_REQUEST"), (None, (-1, 5), "INVALID_REQUEST")],
)  # fmt: skip
def test_what_is_refused_gets_no_id(node, transactional_id, given, code):
    response = node.ask(InitProducerIdRequest(transactional_id, 1_000, *given))

    assert (error_of(response), response.producer_id, response.producer_epoch) == (code, -1, -1)


def test_a_producer_that_starts_over_gets_a_new_id(node):
    before = new_id(node)

    response = node.ask(InitProducerIdRequest(None, 1_000, before, 3))

    assert (error_of(response), response.producer_epoch) == ("NONE", 0)
    assert response.producer_id != before


def test_a_full_disk_is_told_and_is_no_end(node):
    node.disk.fill_up()
    assert error_of(node.ask(InitProducerIdRequest(None, 1_000))) == "KAFKA_STORAGE_ERROR"

    node.disk.free_up()

    assert new_id(node) >= 0


# ── transactional producers ──────────────────────────────────────────────────────────


@pytest.fixture
def coordinator(node):
    node.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]))
    return node


@pytest.mark.parametrize("version", range(7))
def test_a_transactional_producer_gets_an_identity_and_whoever_comes_after_it_the_next_epoch(
    coordinator, version
):
    first, second = (coordinator.ask(InitProducerIdRequest("tx", 1_000), version) for _ in range(2))

    assert (error_of(first), first.producer_epoch) == ("NONE", 0)
    assert (second.producer_id, second.producer_epoch) == (first.producer_id, 1)


def test_an_identity_survives_a_crash(coordinator):
    first = coordinator.ask(InitProducerIdRequest("tx", 1_000))

    coordinator.restart(clean=False)
    coordinator.settle()
    second = coordinator.ask(InitProducerIdRequest("tx", 1_000))

    assert (second.producer_id, second.producer_epoch) == (first.producer_id, first.producer_epoch + 1)


def test_a_new_identity_waits_for_its_producer_id(coordinator):
    coordinator.flush_at_once = False
    ticket = coordinator.send(InitProducerIdRequest("tx", 1_000))
    assert coordinator.answer(ticket) is None

    coordinator.do_flushes()

    assert error_of(coordinator.answer(ticket)) == "NONE"


def test_a_timeout_beyond_the_longest_is_refused(coordinator):
    response = coordinator.ask(InitProducerIdRequest("tx", 900_001))

    assert error_of(response) == "INVALID_TRANSACTION_TIMEOUT"
