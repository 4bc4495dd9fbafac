import pytest

from andiron.sim.clients.client import Client, Gone
from andiron.wire.messages.api_versions import ApiVersionsRequest
from unit.sim.quiet import Quiet


class Scripted(Client):
    """Asks twice with a pause, and writes down what happened."""

    def live(self):
        self.seen = []
        for _ in range(2):
            try:
                yield from self.connected()
                answer = yield self.ask(ApiVersionsRequest("sim", "1"), 3)
                self.seen.append(answer.error_code)
            except Gone:
                self.seen.append("gone")
            yield 20


def begun(quiet, **how):
    client = Scripted(quiet.world, quiet.network, "scripted")
    client.__dict__.update(how)
    client.begin()
    return client


def test_a_script_is_followed_to_its_end(quiet):
    client = begun(quiet)
    quiet.run()
    assert client.seen == [0, 0]
    assert client.is_done
    assert client.link is None


def test_a_connection_that_breaks_is_told_to_the_script(quiet):
    client = begun(quiet)
    quiet.run(until=lambda: client.link is not None)
    client.hang_up()
    quiet.run()
    assert client.seen in (["gone", 0], [0, 0])


def test_no_answer_in_time_is_a_reason_to_hang_up():
    quiet = Quiet(watched=False)
    quiet.network.delay_ms_max = 5_000
    client = begun(quiet, timeout_ms=10)
    quiet.run(60_000)
    assert client.seen[0] == "gone"


def test_a_version_is_chosen_once(quiet):
    versions = {quiet.client.version_of(1) for _ in range(10)}
    assert len(versions) == 1
    assert 4 <= versions.pop() <= 18


def test_topics_are_found_by_name(quiet):
    quiet.create("t", partitions=3)
    found = []

    class Finder(Client):
        def live(self):
            yield from self.connected()
            found.extend((yield from self.find_topics(["t", "nope"])))

    Finder(quiet.world, quiet.network, "finder").begin()
    quiet.run()
    (topic,) = found
    assert (topic.name, topic.partitions, len(topic.names())) == ("t", 3, 3)


def test_a_client_without_a_script_does_nothing(quiet):
    with pytest.raises(NotImplementedError):
        quiet.client.begin()
