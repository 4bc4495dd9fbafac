"""Every page does what it says: its blocks are typed in order, each where a reader types it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from andiron.spark.runtime.java import NoJava, find_java
from pages.desk import Desk
from pages.markdown import Block, blocks_of
from pages.pages import PAGES, READ, ROOT, all_pages
from peers.quick_spark import use_quick_spark

every_page = pytest.mark.parametrize("page", all_pages())


def is_read_only(block: Block) -> bool:
    return block.language in READ or bool(block.why_not or block.run_by)


def marks(page: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if PAGES[page].spark or PAGES[page].slow else []


def need(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not on this machine")


@pytest.fixture(scope="module")
def desk_with_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One for all pages that want Spark, which takes its time to start."""
    pytest.importorskip("pyspark", reason="pyspark is not installed (pip install -e '.[spark]')")
    try:
        find_java()
    except NoJava as why:
        pytest.skip(str(why))
    use_quick_spark()
    with Desk(tmp_path_factory.mktemp("desk"), "") as desk:
        yield desk


@pytest.mark.parametrize("page", [pytest.param(page, marks=marks(page)) for page in PAGES])
def test_a_page_works_as_typed(page: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    given = PAGES[page]
    need(*given.programs)
    shared: Desk | None = request.getfixturevalue("desk_with_spark") if given.spark else None
    with Desk(tmp_path, page) if shared is None else shared.turned_to(page) as desk:
        if given.commands:
            desk.prepare(given.commands)
        for block in blocks_of(ROOT / page):
            if not is_read_only(block):
                desk.type_in(block)


@pytest.mark.slow
def test_the_sections_of_the_tour_work_in_any_order_in_one_folder(tmp_path: Path) -> None:
    """Three brokers, then the node by itself and the tour, then what `make run` feeds, then three brokers again."""
    page = "docs/getting-started.md"
    need(*PAGES[page].programs)
    blocks = [block for block in blocks_of(ROOT / page) if not is_read_only(block)]
    tour = [block for block in blocks if block.section in ("Topics and records", "Any Kafka client")]
    three = [block for block in blocks if block.section == "Three brokers"]
    assert tour and three
    with Desk(tmp_path, page) as desk:
        for block in three:
            desk.type_in(block)
        desk.prepare("andiron up")
        for block in tour:
            desk.type_in(block)
        desk.prepare("python pipelines/orders/feed.py --orders 10 --bootstrap localhost:9092")
        desk.type_in(three[0])
        desk.prepare("andiron topic describe payments")


@every_page
def test_every_block_is_run_or_says_why_not(page: str) -> None:
    for block in blocks_of(ROOT / page):
        where = f"{page}:{block.line}"
        assert not block.indented, f"{where}: put a fence with a language around it"
        assert block.language, f"{where}: say in which language it is; text for what is not typed"
        assert is_read_only(block) or page in PAGES, (
            f"{where}: give the page a line in tests/pages/pages.py, or say <!-- not run: why --> before the block"
        )


@every_page
def test_who_is_said_to_run_a_block_is_there(page: str) -> None:
    for block in blocks_of(ROOT / page):
        assert not block.run_by or (ROOT / block.run_by).exists(), f"{page}:{block.line}: no {block.run_by}"
