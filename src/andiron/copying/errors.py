"""CopyError: what stops a copy, or keeps it from beginning, in one line that says what to do."""

from __future__ import annotations

from andiron.model.errors import AndironError


class CopyError(AndironError):
    """A copy that cannot begin or go on; the message says why and what to do."""
