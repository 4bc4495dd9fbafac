"""The settings of a run: what the job declares, what was asked for, and advice where that does not fit.

SETTINGS of the job ◀── --set key=value, checked against its row
                    ◀── bootstrap and data, which the command knows
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from andiron.model.settings import Row, SettingError, parse, rows
from andiron.spark.pipeline.errors import PipelineError

BOOTSTRAP, DATA = "bootstrap", "data"
GIVEN = (BOOTSTRAP, DATA)  # by the command's own options


def choose(name: str, table: type, given: Mapping[str, str], bootstrap: str, data: str) -> Any:
    """The settings as the job's table has them."""
    known = rows(table)
    for required in GIVEN:
        if required not in known:
            raise PipelineError(f"the SETTINGS of {name} have no {required!r}, which a pipeline needs")
    for key in given:
        if key in GIVEN:
            raise SettingError(key, f"is given by --{key}")
        if key not in known:
            raise SettingError(key, f"{name} has no such setting; {advice(key, open_to_choice(known))}")
    return parse(table, {**given, BOOTSTRAP: bootstrap, DATA: data})


def open_to_choice(known: Mapping[str, Row]) -> list[str]:
    """The settings that --set may name."""
    return [key for key in known if key not in GIVEN]


def advice(key: str, known: Iterable[str]) -> str:
    """What may have been meant."""
    known = list(known)
    near = difflib.get_close_matches(key.lower(), known, n=1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
