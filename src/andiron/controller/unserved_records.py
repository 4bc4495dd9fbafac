"""Records of Kafka's metadata that nothing here acts upon: kept as they were written, so that Kafka finds them again.

    ClientQuotaRecord            how much a client may take
    UserScramCredentialRecord    with what a user logs in
    AccessControlEntryRecord     who may do what
    DelegationTokenRecord        who may log in for whom

A Kafka that is told of no authorizer keeps its access rules too and asks nobody for them; a node that is told of one,
or of a listener with SASL, does not start here (broker/settings/setting_notices.py). So nobody is let in who was to
be kept out. But a folder may come from Kafka and go back: each of these is in the image, in our snapshots, and there
again.

Read next: image.py, which replays the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from andiron.controller.records import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    DelegationTokenRecord,
    MetadataRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)

WORDS = {
    AccessControlEntryRecord: "access rules",
    ClientQuotaRecord: "client quotas",
    UserScramCredentialRecord: "SCRAM credentials",
    DelegationTokenRecord: "delegation tokens",
}
REMOVALS = (RemoveUserScramCredentialRecord, RemoveAccessControlEntryRecord, RemoveDelegationTokenRecord)
KINDS: tuple[type, ...] = (*WORDS, *REMOVALS)


class UnservedRecords:
    """The access rules, quotas, credentials and tokens that hold, each under what it is about."""

    def __init__(self, records: Mapping[Hashable, MetadataRecord] | None = None) -> None:
        self._records = dict(records or {})

    def __iter__(self) -> Iterator[MetadataRecord]:
        return iter(self._records.values())

    def __contains__(self, record: MetadataRecord) -> bool:
        """Whether this very record holds."""
        return self._records.get(_subject(record)) == record

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnservedRecords) and self._records == other._records

    def __hash__(self) -> int:
        raise TypeError("unserved records change, and are the key to nothing")

    def copy(self) -> UnservedRecords:
        return UnservedRecords(self._records)

    def replay(self, record: MetadataRecord) -> None:
        """Take in a record of one of `KINDS`."""
        if isinstance(record, REMOVALS) or (isinstance(record, ClientQuotaRecord) and record.remove):
            self._records.pop(_subject(record), None)
        else:
            self._records[_subject(record)] = record

    def removals(self, later: UnservedRecords) -> list[MetadataRecord]:
        """What takes away from this what is not there later."""
        return [
            _removal(record) for subject, record in self._records.items() if subject not in later._records
        ]

    def told(self) -> str:
        """How much there is of each kind, for people to read; nothing if there is nothing."""
        counts = Counter(WORDS[type(record)] for record in self)
        return ", ".join(f"{count} {word}" for word, count in counts.items())


def _subject(record: Any) -> Hashable:
    """What a record is about: the same for the one that says it and the one that takes it back."""
    match record:
        case ClientQuotaRecord():
            return (
                "quota",
                frozenset((each.entity_type, each.entity_name) for each in record.entity),
                record.key,
            )
        case UserScramCredentialRecord() | RemoveUserScramCredentialRecord():
            return "scram", record.name, record.mechanism
        case AccessControlEntryRecord() | RemoveAccessControlEntryRecord():
            return "acl", record.id
    return "token", record.token_id


def _removal(record: Any) -> MetadataRecord:
    match record:
        case ClientQuotaRecord():
            return ClientQuotaRecord(record.entity, record.key, 0.0, True)
        case UserScramCredentialRecord():
            return RemoveUserScramCredentialRecord(record.name, record.mechanism)
        case AccessControlEntryRecord():
            return RemoveAccessControlEntryRecord(record.id)
    return RemoveDelegationTokenRecord(record.token_id)
