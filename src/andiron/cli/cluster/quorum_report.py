"""The metadata quorum in one table: who leads, who votes, who only reads, and how far each is.

    NODE  ROLE      LOG END  LAG  LAST FETCH  CAUGHT UP
       1  leader       1204    0  -           -
       2  voter        1204    0  0.3s ago    0.3s ago
       3  voter         977  227  2m 10s ago  2m 10s ago      ◀── down: one more, and nothing can be decided
       4  observer     1204    0  0.2s ago    0.2s ago

A leader hears of the others by their fetches; of itself it has nothing to tell.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from andiron.cli.output import columns, plural
from andiron.cli.times import show_duration
from andiron.client.core.cluster_descriptions import QuorumMember, QuorumState

HEAD = ("NODE", "ROLE", "LOG END", "LAG", "LAST FETCH", "CAUGHT UP", "ADDRESS", "DIRECTORY")


class QuorumReport(NamedTuple):
    """DescribeQuorum's answer, and when it was given."""

    quorum: QuorumState
    now_ms: int

    def as_text(self) -> str:
        """The quorum as a table; columns of which nothing is known are left out."""
        rows = [self._row(each, "voter") for each in self.quorum.voters]
        rows += [self._row(each, "observer") for each in self.quorum.observers]
        shown = [at for at, _ in enumerate(HEAD) if any(row[at] is not None for row in rows)]
        head = [HEAD[at] for at in shown]
        return f"{self._facts()}\n\n" + columns(head, [[row[at] for at in shown] for row in rows])

    def as_json(self) -> dict[str, Any]:
        """The quorum as JSON; what is not known is null."""
        quorum = self.quorum
        return {
            "leader": quorum.leader_id if quorum.leader_id >= 0 else None,
            "epoch": quorum.epoch,
            "high_watermark": quorum.high_watermark,
            "max_lag": self._max_lag(),
            "away": quorum.away(),
            "failures_borne": quorum.failures_borne(),
            "voters": [self._member_json(each) for each in quorum.voters],
            "observers": [self._member_json(each) for each in quorum.observers],
        }

    def _facts(self) -> str:
        quorum = self.quorum
        leader = f"leader {quorum.leader_id}" if quorum.leader_id >= 0 else "no leader"
        away, borne = quorum.away(), quorum.failures_borne()
        gone = f"{', '.join(map(str, away))} {'is' if len(away) == 1 else 'are'} away and " if away else ""
        more = f"{borne or 'none'}{' more' if away else ''} may fail"
        voters = f"{plural(len(quorum.voters), 'voter')} of which {gone}{more}"
        facts = [leader, f"epoch {quorum.epoch}", f"high watermark {quorum.high_watermark}", voters]
        if quorum.observers:
            facts.append(plural(len(quorum.observers), "observer"))
        lag = self._max_lag()
        if lag:
            facts.append(f"behind by {plural(lag, 'record')} at most")
        return f"quorum: {', '.join(facts)}"

    def _max_lag(self) -> int | None:
        """The largest lag of a voter."""
        lags = [self.quorum.lag(each) for each in self.quorum.voters if each.id != self.quorum.leader_id]
        return max((each for each in lags if each is not None), default=0 if not lags else None)

    def _row(self, member: QuorumMember, role: str) -> tuple[Any, ...]:
        leads = member.id == self.quorum.leader_id
        addresses = self.quorum.addresses.get(member.id, {})
        return (
            member.id,
            "leader" if leads else role,
            member.log_end if member.log_end >= 0 else None,
            self.quorum.lag(member),
            None if leads else self._ago(member.last_fetch_ms),
            None if leads else self._ago(member.last_caught_up_ms),
            ", ".join(f"{name}://{address}" for name, address in addresses.items()) or None,
            member.directory_text,
        )

    def _ago(self, time_ms: int) -> str | None:
        return None if time_ms < 0 else f"{show_duration(max(0, self.now_ms - time_ms))} ago"

    def _member_json(self, member: QuorumMember) -> dict[str, Any]:
        return {
            "id": member.id,
            "directory": member.directory_text,
            "log_end": member.log_end if member.log_end >= 0 else None,
            "lag": self.quorum.lag(member),
            "last_fetch_ms": member.last_fetch_ms if member.last_fetch_ms >= 0 else None,
            "last_caught_up_ms": member.last_caught_up_ms if member.last_caught_up_ms >= 0 else None,
            "addresses": {name: str(to) for name, to in self.quorum.addresses.get(member.id, {}).items()},
        }
