"""The pages that send a reader to a file: it is there, and the word that leads there is in it, or in its name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages.pages import ROOT

SRC = ROOT / "src" / "andiron"
DOCS = ROOT / "docs"


def rows(page: str) -> list[list[str]]:
    """The cells of all rows of a page's tables that name a file."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in cells if ".py`" in row[-1]]


def words_of(path: Path) -> str:
    """A file's name and text, with one blank between words, however they are wrapped or joined."""
    text = f"{path.relative_to(SRC)} {path.read_text(encoding='utf-8')}"
    return " ".join(text.replace("_", " ").lower().split())


TERMS = rows("glossary.md")
PLACES = rows("where.md")


@pytest.mark.parametrize(
    ("term", "file"), [(row[0], row[-1]) for row in TERMS], ids=[row[0] for row in TERMS]
)
def test_a_term_is_in_the_file_that_it_names(term: str, file: str) -> None:
    path = SRC / file.strip("`")
    assert path.is_file(), f"docs/glossary.md: {file}"
    absent = [word for word in term.split(", ") if word.lower() not in words_of(path)]
    assert not absent, f"docs/glossary.md: {file} does not say {absent}"


@pytest.mark.parametrize(
    ("word", "file"), [(row[1], row[2]) for row in PLACES], ids=[row[0] for row in PLACES]
)
def test_a_place_is_found_by_the_word_that_one_searches_for(word: str, file: str) -> None:
    for each in re.findall(r"`([^`]+)`", file):
        assert (SRC / each).is_file(), f"docs/where.md: {each}"
    first = re.findall(r"`([^`]+)`", file)[0]
    assert word.strip("`").replace("_", " ").lower() in words_of(SRC / first), (
        f"docs/where.md: {first}, {word}"
    )


def test_there_are_words_and_places() -> None:
    assert len(TERMS) > 50
    assert len(PLACES) >= 20
