from andiron.model.ids import Address
from andiron.wire.messages.api_versions import ApiVersionsRequest
from unit.sim.quiet import Quiet
from unit.sim.several import Puppets


def test_a_request_and_its_answer_find_each_other(quiet):
    response = quiet.ask(ApiVersionsRequest("sim", "1"), 3)
    assert response.error_code == 0
    assert response.api_keys


def test_a_connection_keeps_the_order_of_its_frames(quiet):
    quiet.network.delay_ms_max = 500
    answered = []
    for _ in range(20):
        quiet.client.ask(ApiVersionsRequest("sim", "1"), 3, lambda e: answered.append(e.correlation))
    quiet.run()
    assert answered == sorted(answered)
    assert len(answered) == 20


def test_nobody_connects_where_nobody_listens(quiet):
    quiet.host.kill()
    assert quiet.network.connect(quiet.client, quiet.host) is None


def test_what_was_sent_before_hanging_up_may_arrive_or_not():
    ends = set()
    for seed in range(12):
        quiet = Quiet(seed, watched=False)
        quiet.create()
        quiet.client.ask(quiet.produce_request(b"x", acks=1), 9)
        link = quiet.client.link
        quiet.client.hang_up()
        quiet.run()
        assert not link.caller_open and not link.host_open
        assert quiet.host.links == []
        ends.add(quiet.partition().log.end)
    assert ends == {0, 1}


def test_an_address_leads_to_a_listener(monkeypatch):
    network = Puppets(monkeypatch).network
    host, listener = network.locate(Address("node-2", 9093))
    assert (host.name, listener) == ("node-2", "CONTROLLER")
    assert network.locate(Address("node-2", 9092))[1] == "PLAINTEXT"
    assert network.locate(Address("node-9", 9092)) is None


def test_a_rift_has_sides_and_directions(quiet):
    network = quiet.network
    network.part(["a", "b"], ["c"])
    network.part(["d"], ["e"], one_way=True)
    assert not network.carries("a", "c") and not network.carries("c", "b")
    assert network.reaches("a", "b") and network.reaches("c", "d")
    assert network.carries("e", "d") and not network.carries("d", "e")
    assert not network.reaches("d", "e")
    network.heal()
    assert network.reaches("a", "c")


def test_nobody_connects_across_a_rift(quiet):
    quiet.client.hang_up()
    quiet.network.part(["tester"], [quiet.host.name], one_way=True)
    assert quiet.network.connect(quiet.client, quiet.host) is None
    assert quiet.network.clients == ["tester"]
