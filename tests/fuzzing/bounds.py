"""What one request may cost."""

from __future__ import annotations

STEP_S_MAX = 0.25  # of the processor: twice the longest that was seen on a busy machine (docs/operations.md)
HELD_MAX = 200 << 20  # bytes, beside the frame; of what is decoded, answered and encoded
