"""A registered controller, as the metadata has it: where it is, and the features it knows.

Tools ask for it, and no feature is raised above what one of them knows. Who votes is the quorum's affair.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.controller.records import RegisterControllerRecord
from andiron.model.ids import NodeId


class ControllerImage(NamedTuple):
    """One registered controller."""

    id: NodeId
    incarnation: bytes
    endpoints: tuple[tuple[str, str, int, int], ...]  # listener name, host, port, security protocol
    features: tuple[tuple[str, int, int], ...]  # name, and the levels it can be set to

    @classmethod
    def of(cls, record: RegisterControllerRecord) -> ControllerImage:
        """The controller that a record registers."""
        return cls(
            NodeId(record.controller_id),
            record.incarnation_id,
            tuple((each.name, each.host, each.port, each.security_protocol) for each in record.end_points),
            tuple((f.name, f.min_supported_version, f.max_supported_version) for f in record.features),
        )

    def endpoint(self, listener: str) -> tuple[str, int] | None:
        """Where who came by `listener` finds it."""
        return next(((host, port) for name, host, port, _ in self.endpoints if name == listener), None)
