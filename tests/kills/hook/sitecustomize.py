"""Every Python process of the driver begins with this: `steps.reached` is replaced as soon as it is imported."""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MODULE = "andiron.spark.steps"


def reached(step: str, batch: int) -> None:
    """In the place of the one that does nothing."""
    from kills.striking import strike

    strike(step, batch)


class Arming(MetaPathFinder):
    """Lets the module be imported as always, and then puts the striking `reached` in."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.loader is not None
        execute = spec.loader.exec_module

        def execute_and_arm(module: ModuleType) -> None:
            execute(module)
            module.reached = reached

        spec.loader.exec_module = execute_and_arm
        return spec


sys.meta_path.insert(0, Arming())
