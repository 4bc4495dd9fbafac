"""What stops a copy, or keeps it from beginning, in one line that says what to do."""

from __future__ import annotations

from andiron.model.errors import AndironError


class CopyError(AndironError):
    """It cannot be copied as things are."""
