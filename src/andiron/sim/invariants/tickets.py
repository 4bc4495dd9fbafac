"""Every request is answered: once, in turn, and in time.

Once and in turn is seen to where replies leave (network.py). In time means here: a fetch within its max.wait, by the
world's time, whatever is done to the clocks on the walls; a produce request within twice its timeout. A node that was
paused may be late. A batch that has to be asked for at a coordinator waits for that as well, as long as it takes one to
give up whose disk is dead, and then for the others to have it. When nothing is under way, nobody is waiting.
"""

from __future__ import annotations

from andiron.broker.node.patience import COORDINATOR_CALL_MS as ASKS_MS
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.watcher import Violation, Watcher
from andiron.wire.apis import ApiKey

ANSWERED = "every request is answered"
IN_TIME = "answers come in time"
SLACK_MS = 50


class EveryoneIsAnswered(Watcher):
    """Looks for those who wait too long."""

    def said(self, host: Host, exchange: Exchange) -> None:
        waited = exchange.decided_at - max(exchange.heard_at, host.resumed_at)
        if exchange.key == ApiKey.FETCH:
            allowed = exchange.body.max_wait_ms
        elif exchange.key == ApiKey.PRODUCE:
            asks_first = exchange.body.transactional_id is not None
            allowed = 2 * (exchange.body.timeout_ms + (ASKS_MS if asks_first else 0))
        else:
            return
        if waited > allowed + SLACK_MS:
            raise Violation(IN_TIME, f"{exchange} waited {waited} ms where {allowed} were allowed")

    def rested(self, host: Host) -> None:
        for link in host.links:
            for exchange in link.unanswered:
                raise Violation(ANSWERED, f"{exchange} of {link.caller.name} is not")
