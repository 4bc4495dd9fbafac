from __future__ import annotations

import pytest

from andiron.log.layout import (
    CLEANED,
    DELETE,
    FUTURE,
    LOG,
    STRAY,
    TIME_INDEX,
    FileName,
    FolderName,
    LayoutError,
    file_name,
    folder_name,
    moving_folder_name,
    parse_file_name,
    parse_folder_name,
)
from andiron.model.ids import TopicPartition


def test_a_segment_is_named_by_its_base_in_twenty_digits():
    assert file_name(5000, LOG) == "00000000000000005000.log"
    assert file_name(5000, TIME_INDEX, CLEANED) == "00000000000000005000.timeindex.cleaned"


@pytest.mark.parametrize("kind", [".log", ".index", ".timeindex", ".txnindex", ".snapshot"])
@pytest.mark.parametrize("state", ["", ".deleted", ".cleaned", ".swap"])
def test_file_names_read_back(kind, state):
    parsed = parse_file_name(file_name(170410, kind, state))
    assert parsed == FileName(170410, kind, state)
    assert str(parsed) == file_name(170410, kind, state)


@pytest.mark.parametrize(
    "name",
    ["partition.metadata", "5000.log", "00000000000000005000.lag", "00000000000000005000.log.tmp", "x.log"],
)
def test_other_files_are_not_of_a_segment(name):
    assert parse_file_name(name) is None


def test_a_folder_is_topic_dash_number():
    orders = TopicPartition("my-orders", 12)
    assert folder_name(orders) == "my-orders-12"
    assert parse_folder_name("my-orders-12") == FolderName(orders)


@pytest.mark.parametrize("state", [DELETE, FUTURE, STRAY])
def test_a_folder_in_transition_says_which(state):
    orders = TopicPartition("my-orders", 12)
    name = moving_folder_name(orders, "0f" * 16, state)
    assert name == f"my-orders-12.{'0f' * 16}{state}"
    assert parse_folder_name(name) == FolderName(orders, state, "0f" * 16)


def test_a_topic_that_only_looks_like_a_transition_is_a_topic():
    assert parse_folder_name("orders-delete-0") == FolderName(TopicPartition("orders-delete", 0))


def test_the_longest_topic_still_makes_a_folder_name():
    name = moving_folder_name(TopicPartition("t" * 249, 7), "0f" * 16, DELETE)
    assert len(name) == 255
    assert parse_folder_name(name).partition.partition == 7


@pytest.mark.parametrize("name", ["lost+found", "orders", "orders-", "-1", "orders-x"])
def test_other_folders_are_refused_by_name(name):
    with pytest.raises(LayoutError, match="not the folder of a partition"):
        parse_folder_name(name)
