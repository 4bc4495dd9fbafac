"""The class of an error says what to do, its code what happened."""

import pickle

import pytest

from andiron.model.errors import ErrorCode, Fenced, ProtocolError, Refused, Retriable, StaleMetadata


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (ErrorCode.OFFSET_OUT_OF_RANGE, Refused),
        (ErrorCode.REQUEST_TIMED_OUT, Retriable),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, StaleMetadata),
        (ErrorCode.PRODUCER_FENCED, Fenced),
    ],
)
def test_a_code_knows_its_remedy(code, remedy):
    error = code.error("detail")

    assert type(error) is remedy
    assert error.code is code
    assert str(error) == f"{code.name}: detail"


def test_an_error_without_detail_says_what_its_code_means():
    assert ErrorCode.NOT_CONTROLLER.error().detail == ErrorCode.NOT_CONTROLLER.meaning


def test_numbers_lead_back_to_their_rows():
    assert all(ErrorCode.of(code.number) is code for code in ErrorCode)
    assert ErrorCode.of(9_999) is ErrorCode.UNKNOWN_SERVER_ERROR


def test_numbers_are_given_once_and_without_gaps():
    assert sorted(code.number for code in ErrorCode) == list(range(-1, 130))


def test_stale_metadata_is_retriable():
    assert issubclass(StaleMetadata, Retriable)
    assert issubclass(Fenced, ProtocolError)


def test_an_error_crosses_between_processes():
    error = ErrorCode.NOT_COORDINATOR.error("elsewhere")

    again = pickle.loads(pickle.dumps(error))

    assert (type(again), again.code, again.detail) == (type(error), error.code, error.detail)
