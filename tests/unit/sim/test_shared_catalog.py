from andiron.model.errors import ErrorCode
from andiron.sim.catalog import TopicState
from andiron.sim.shared_catalog import SharedCatalog


def there(partitions=1, **configs):
    return TopicState(1, partitions, tuple(sorted(configs.items())))


def setting(name, value):
    return lambda state: (
        state and state._replace(configs=tuple(sorted((dict(state.configs) | {name: value}).items())))
    )


def made(catalog):
    asked = catalog.heard("t", lambda state: state or there())
    catalog.said(asked, ErrorCode.NONE)
    catalog.shown("t", there())


def test_what_is_acknowledged_is_so():
    catalog = SharedCatalog()
    made(catalog)
    assert catalog.possible("t") == [there()]
    asked = catalog.heard("t", setting("a", "1"))
    assert catalog.possible("t") == [there(), there(a="1")]
    catalog.said(asked, ErrorCode.NONE)
    assert catalog.possible("t") == [there(a="1")]


def test_what_was_given_up_may_happen_at_any_time():
    catalog = SharedCatalog()
    made(catalog)
    catalog.heard("t", setting("a", "1"))
    asked = catalog.heard("t", setting("a", "2"))
    catalog.said(asked, ErrorCode.NONE)
    assert there(a="2") in catalog.possible("t")
    assert there(a="1") in catalog.possible("t")
    catalog.shown("t", there(a="2"))
    assert there(a="1") in catalog.possible("t")
    catalog.found("t", there(a="2"))
    assert catalog.possible("t") == [there(a="2")]


def test_a_late_acknowledgement_may_be_of_an_early_change():
    catalog = SharedCatalog()
    made(catalog)
    first = catalog.heard("t", setting("a", "1"))
    second = catalog.heard("t", setting("a", "2"))
    catalog.said(second, ErrorCode.NONE)
    catalog.shown("t", there(a="2"))
    catalog.said(first, ErrorCode.NONE)
    assert there(a="2") in catalog.possible("t")


def test_what_is_refused_does_not_happen_and_what_is_put_off_may():
    catalog = SharedCatalog()
    made(catalog)
    catalog.said(catalog.heard("t", setting("a", "1")), ErrorCode.INVALID_CONFIG)
    assert catalog.possible("t") == [there()]
    catalog.said(catalog.heard("t", setting("a", "1")), ErrorCode.REQUEST_TIMED_OUT)
    assert there(a="1") in catalog.possible("t")
    assert catalog.topics == ["t"]


def test_what_is_there_already_may_be_there_by_the_same_request_passed_on_before():
    catalog = SharedCatalog()
    asked = catalog.heard("t", lambda state: state or there())
    catalog.said(asked, ErrorCode.TOPIC_ALREADY_EXISTS)
    assert there() in catalog.possible("t")
