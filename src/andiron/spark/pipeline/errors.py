"""What goes wrong with a pipeline, in one line that says what to do."""

from __future__ import annotations

from andiron.model.errors import AndironError


class PipelineError(AndironError):
    """A pipeline that cannot be found, started, stopped, or that failed."""
