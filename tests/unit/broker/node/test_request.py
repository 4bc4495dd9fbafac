"""A request and its circumstances."""

import pytest

from andiron.broker.node.request import Request


def test_a_request_says_who_asked_what_when_and_how():
    request = Request("body", 9, "me", 4, "PLAINTEXT", "10.0.0.1", 1_000)

    assert (request.body, request.version, request.client_id) == ("body", 9, "me")
    assert (request.conn, request.listener, request.now) == (4, "PLAINTEXT", 1_000)


def test_it_holds_nothing_else():
    with pytest.raises(AttributeError):
        Request("body", 9, None, 4, "", "", 0).other = 1
