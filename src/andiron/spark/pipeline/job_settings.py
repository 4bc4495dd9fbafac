"""The settings of a run: what the job declares, what was asked for, and advice where that does not fit.

SETTINGS of the job ◀── --set key=value, checked against its row
                    ◀── bootstrap and data, which the command knows
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from andiron.model.settings import Row, SettingError, parse, rows
from andiron.spark.pipeline.errors import PipelineError

BOOTSTRAP, DATA = "bootstrap", "data"
GIVEN = (BOOTSTRAP, DATA)  # by the command's own options


def choose_settings(name: str, table: type, given: Mapping[str, str], bootstrap: str, data: str) -> Any:
    """The settings of a run, as an object of the job's own table."""
    known = rows(table)
    for required in GIVEN:
        if required not in known:
            raise PipelineError(f"the SETTINGS of {name} have no {required!r}, which a pipeline needs")
    for key in given:
        if key in GIVEN:
            raise SettingError(key, f"is given by --{key}")
        if key not in known:
            raise SettingError(key, f"{name} has no such setting; {advice(key, settable_names(known))}")
    return parse(table, {**given, BOOTSTRAP: bootstrap, DATA: data})


def settable_names(known: Mapping[str, Row]) -> list[str]:
    """The settings that --set may name."""
    return [key for key in known if key not in GIVEN]


def advice(key: str, known: Iterable[str]) -> str:
    """Which setting may have been meant by a name that there is not."""
    known = list(known)
    near = difflib.get_close_matches(key.lower(), known, n=1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"


def lasting_settings(job: ModuleType, settings: Any) -> dict[str, str]:
    """The settings that a job calls LASTING, on which its state and tables hang, as text."""
    table = rows(job.SETTINGS)
    chosen = ((table[name], getattr(settings, table[name].attribute)) for name in getattr(job, "LASTING", ()))
    return {row.name: str(row.render(value)) for row, value in chosen}
