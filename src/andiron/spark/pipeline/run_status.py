"""The status of a pipeline, as `andiron pipeline status` shows it: read from the file of its run, and from its lock."""

from __future__ import annotations

from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.query_progress import progress_line
from andiron.spark.pipeline.run_file import RunFile, RunState


def run_status(run: RunFile) -> RunState:
    """The state that a run wrote last, and whether its process still holds the lock."""
    state = run.read()
    if not state:
        raise PipelineError(f"{run.name} has not run with {run.folder}; --data names another folder")
    running = run.holder() is not None
    if not running and state["state"] not in ("stopped", "failed"):
        state["state"], state["why"] = "failed", "its process ended without a word"
    return {**state, "running": running}


def as_text(state: RunState, now_s: float) -> str:
    """A run's status for people: one line for the run, one for each query, one for where its data are."""
    age = _span(now_s - state["updated"])
    if state["running"]:
        head = f"{state['name']} is {state['state']}, in process {state['pid']} for {_span(now_s - state['started'])}"
    else:
        head = f"{state['name']} {state['state']} {age} ago"
    lines = [head + (f": {state['why']}" if state.get("why") else "")]
    lines += [f"  {progress_line(query)}" for query in state["queries"]]
    lines.append(
        f"  log {state['bootstrap']}, Spark {state['master'] or 'not started'}, data {state['folder']}"
    )
    return "\n".join(lines)


def _span(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{max(0, seconds):.0f} s"
