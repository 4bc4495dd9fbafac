"""Settings of a run: checked against the job's table, with advice."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from andiron.model.settings import INT, STRING, SettingError, setting
from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.job_settings import advice, choose_settings


@dataclass(frozen=True, slots=True)
class Table:
    bootstrap: str = setting("bootstrap", STRING, "", "")
    data: str = setting("data", STRING, "", "")
    max_rows: int = setting("max.rows", INT, 10, "", least=1)


@dataclass(frozen=True, slots=True)
class Homeless:
    bootstrap: str = setting("bootstrap", STRING, "", "")


def chosen(**given: str) -> Table:
    found = choose_settings(
        "orders", Table, {key.replace("_", "."): text for key, text in given.items()}, "h:1", "/d"
    )
    assert isinstance(found, Table)
    return found


def test_what_is_given_is_parsed_and_the_rest_keeps_its_default() -> None:
    assert chosen() == Table("h:1", "/d", 10)
    assert chosen(max_rows="3") == Table("h:1", "/d", 3)


def test_a_near_miss_gets_advice() -> None:
    with pytest.raises(SettingError, match=r"orders has no such setting; did you mean max\.rows\?"):
        chosen(max_row="3")


def test_a_far_miss_gets_the_list() -> None:
    assert advice("colour", ["max.rows", "topic"]) == "there are max.rows, topic"


def test_a_bad_value_is_refused_by_its_row() -> None:
    with pytest.raises(SettingError, match=r"max\.rows: 0 is below 1"):
        chosen(max_rows="0")


def test_what_the_command_has_options_for_is_not_set_twice() -> None:
    with pytest.raises(SettingError, match="given by --data"):
        chosen(data="/elsewhere")


def test_a_table_without_a_folder_is_refused() -> None:
    with pytest.raises(PipelineError, match="'data'"):
        choose_settings("orders", Homeless, {}, "h:1", "/d")
