from andiron.sim.clients.fetch_session import FetchSession


def test_a_session_gets_an_id_and_counts_on():
    session = FetchSession(is_kept=True)
    assert (session.id, session.epoch, session.names_all) == (0, 0, True)
    session.answered(7)
    session.told["t", 0] = 3
    session.answered(7)
    assert (session.id, session.epoch, session.names_all) == (7, 2, False)


def test_a_session_that_is_forgotten_closes_the_old_one():
    session = FetchSession(is_kept=True)
    session.answered(7)
    session.told["t", 0] = 3
    session.forget()
    assert (session.id, session.epoch, session.told) == (7, 0, {})
    session.answered(0)
    assert (session.id, session.epoch) == (0, 0)


def test_without_a_session_every_request_stands_for_itself():
    session = FetchSession(is_kept=False)
    session.answered(0)
    session.forget()
    assert (session.id, session.epoch, session.names_all) == (0, -1, True)
