import pytest

from andiron.model.ids import Millis
from andiron.sim.exchange import Errand, Exchange
from andiron.sim.watcher import Violation
from andiron.wire.header import encode_request_header
from andiron.wire.messages.api_versions import ApiVersionsRequest
from andiron.wire.messages.produce import ProduceRequest

NOW = Millis(0)


def test_a_response_that_does_not_decode_is_noticed():
    exchange = Exchange(ApiVersionsRequest("sim", "1"), 3, 1, NOW)
    with pytest.raises(Violation, match="responses decode"):
        exchange.decode(b"\0\0\0\1")
    with pytest.raises(Violation, match="responses decode"):
        exchange.decode(b"\0\0\0\2" + b"\0\0\1\0\0\0\0\0")


def test_only_acks_0_goes_unanswered():
    assert Exchange(ProduceRequest(acks=0), 3, 1, NOW).is_unanswered
    assert not Exchange(ProduceRequest(acks=1), 3, 1, NOW).is_unanswered


def test_an_errand_is_bytes_with_a_header():
    frame = encode_request_header(18, 3, 7, "node")
    errand = Errand(7, frame, NOW, Millis(9))
    assert str(errand) == "ApiVersions v3 #7"
    assert errand.encode("whoever") == frame
    errand.decode(b"\0\0\0\7rest")
    assert errand.response == b"\0\0\0\7rest"
    with pytest.raises(Violation, match="in turn"):
        errand.decode(b"\0\0\0\6rest")


def test_the_correlation_of_an_errand_is_its_token():
    with pytest.raises(Violation, match="header"):
        Errand(8, encode_request_header(18, 3, 7, "node"), NOW, NOW)
    with pytest.raises(Violation, match="header"):
        Errand(8, b"\0", NOW, NOW)
