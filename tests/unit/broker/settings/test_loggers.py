"""The levels of loggers, as Kafka's administrators read and set them."""

import logging

import pytest

from andiron.broker.settings.loggers import DELETE, SET, alter, levels
from andiron.model.errors import ProtocolError
from andiron.wire.messages.incremental_alter_configs import AlterableConfig

NAME = "andiron.broker.test_of_loggers"
APPEND = 2


@pytest.fixture(autouse=True)
def logger():
    """A logger of its own, and all levels as they were."""
    before = {name: logging.getLogger(name).level for name in ("andiron", "andiron.broker", NAME)}
    root = logging.root.level
    yield logging.getLogger(NAME)
    logging.root.setLevel(root)
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def change(name, value, operation=SET, validate_only=False):
    alter([AlterableConfig(name, operation, value)], validate_only=validate_only)


@pytest.mark.parametrize(("level", "number"), [("TRACE", 5), ("DEBUG", 10), ("WARN", 30), ("FATAL", 50)])
def test_a_level_is_set_and_told(logger, level, number):
    change(NAME, level)

    assert logger.level == number
    assert levels()[NAME] == level


def test_a_logger_has_the_level_of_what_is_around_it(logger):
    change("andiron.broker", "ERROR")
    assert levels()[NAME] == "ERROR"

    change(NAME, "DEBUG")
    change(NAME, None, DELETE)

    assert levels()[NAME] == "ERROR"


def test_only_what_is_ours_and_the_root_is_told():
    logging.getLogger("somebody.else")

    assert "root" in levels()
    assert "somebody.else" not in levels()


@pytest.mark.parametrize(
    ("name", "value", "operation", "error"),
    [
        ("andiron.nope", "DEBUG", SET, "INVALID_CONFIG"),
        (NAME, "LOUD", SET, "INVALID_CONFIG"),
        (NAME, None, SET, "INVALID_CONFIG"),
        ("root", None, DELETE, "INVALID_REQUEST"),
        (NAME, "DEBUG", APPEND, "INVALID_REQUEST"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(logger, name, value, operation, error):
    with pytest.raises(ProtocolError, match=error):
        alter(
            [AlterableConfig(NAME, SET, "DEBUG"), AlterableConfig(name, operation, value)],
            validate_only=False,
        )

    assert logger.level == logging.NOTSET


def test_a_trial_changes_nothing(logger):
    change(NAME, "DEBUG", validate_only=True)

    assert logger.level == logging.NOTSET
