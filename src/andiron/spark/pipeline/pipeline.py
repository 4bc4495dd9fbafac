"""A pipeline is a folder with a job.py in it; and where such folders are looked for.

    $ANDIRON_PIPELINES ─▶ ./pipelines ─▶ those that come with Andiron (shipped.py)

The first that has the name wins. What a pipeline is for is the first line of its job's docstring, read
without running it: a list must not start anything.

A job is loaded as spark-submit would: its folder is on the path, so that it can import what lies beside it.
The functions that Spark carries to its workers are then sent by value, since workers have no such folder.
"""

from __future__ import annotations

import ast
import difflib
import os
import sys
from collections.abc import Iterator, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any, NamedTuple

from pyspark import cloudpickle

from andiron import shipped
from andiron.spark.pipeline.errors import PipelineError

JOB = "job.py"
VARIABLE = "ANDIRON_PIPELINES"
SHIPPED = shipped.folder("pipelines")
REQUIRED = ("SETTINGS", "start")


class Pipeline(NamedTuple):
    """A folder with a job."""

    name: str
    folder: str

    @property
    def job(self) -> str:
        return os.path.join(self.folder, JOB)

    def summary(self) -> str:
        """What the pipeline is for: the first line of its job's docstring."""
        try:
            with open(self.job, encoding="utf-8") as file:
                told = ast.get_docstring(ast.parse(file.read())) or ""
        except (SyntaxError, ValueError) as error:
            return f"cannot be read: {error}"
        return told.split("\n", 1)[0]

    def load(self) -> ModuleType:
        """The job, as a module that is loaded and has what a pipeline needs."""
        sys.path.insert(0, self.folder)
        spec = spec_from_file_location(f"pipeline_{self.name}", self.job)
        assert spec is not None and spec.loader is not None, f"{self.job} is a Python file"
        module = module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise PipelineError(f"{self.job} cannot be loaded: {type(error).__name__}: {error}") from error
        for name in REQUIRED:
            if not hasattr(module, name):
                raise PipelineError(f"{self.job} has no {name}, which a pipeline needs")
        send_by_value(self.folder)
        return module


def folders(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The folders in which pipelines are looked for, in this order."""
    named = [each for each in environ.get(VARIABLE, "").split(os.pathsep) if each]
    return list(dict.fromkeys(os.path.abspath(each) for each in [*named, "pipelines", SHIPPED]))


def pipelines(environ: Mapping[str, str] = os.environ) -> list[Pipeline]:
    """All pipelines that there are, by name."""
    found: dict[str, Pipeline] = {}
    for pipeline in _all(environ):
        found.setdefault(pipeline.name, pipeline)
    return [found[name] for name in sorted(found)]


def find_pipeline(name: str, environ: Mapping[str, str] = os.environ) -> Pipeline:
    """The pipeline of this name; PipelineError says where it was looked for."""
    there = {pipeline.name: pipeline for pipeline in pipelines(environ)}
    if name in there:
        return there[name]
    near = difflib.get_close_matches(name, there, n=1)
    hint = f"did you mean {near[0]}?" if near else "`andiron pipeline list` shows what there is"
    looked = ", ".join(folders(environ))
    raise PipelineError(f"there is no pipeline {name!r} in {looked}; {hint}")


def _all(environ: Mapping[str, str]) -> Iterator[Pipeline]:
    for folder in folders(environ):
        if os.path.isdir(folder):
            for name in sorted(os.listdir(folder)):
                pipeline = Pipeline(name, os.path.join(folder, name))
                if os.path.isfile(pipeline.job):
                    yield pipeline


def send_by_value(folder: str) -> None:
    """Have Spark send the functions of all modules that were loaded from a folder by value."""
    by_value: Any = cloudpickle.register_pickle_by_value
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and os.path.dirname(os.path.abspath(file)) == folder:
            by_value(module)
