"""One request as a handler sees it: the decoded body, and who asked, when and how."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from andiron.model.ids import Millis

Body = TypeVar("Body")


class Request(Generic[Body]):
    """A decoded request and its circumstances; made once for each, so slotted and plain."""

    __slots__ = ("body", "client_id", "conn", "host", "listener", "now", "version")

    def __init__(
        self,
        body: Body,
        version: int,
        client_id: str | None,
        conn: int,
        listener: str,
        host: str,
        now: Millis,
    ) -> None:
        self.body, self.version, self.client_id = body, version, client_id
        self.conn, self.listener, self.host, self.now = conn, listener, host, now


class ForwardedRequest(Request[Body]):
    """One that another broker has passed on to the controller, who decides it here or not at all: passed on once more,
    it would be underway twice, since the other broker asks the next controller too."""

    __slots__ = ("not_controller",)

    def __init__(self, body: Body, version: int, client_id: str | None, by: Request[Any]) -> None:
        super().__init__(body, version, client_id, by.conn, by.listener, by.host, by.now)
        self.not_controller = False  # this node is not the controller any more
