"""What tests of requests between nodes begin with."""

from worlds.controllers import three

__all__ = ["three"]
