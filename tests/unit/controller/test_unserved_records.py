"""What nothing here acts upon is kept as it was, replaced and taken away as Kafka would."""

from __future__ import annotations

import pytest

from andiron.controller.records import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    DelegationTokenRecord,
    EntityData,
    MetadataRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from andiron.controller.unserved_records import UnservedRecords

ALICE, HERS = EntityData("user", "alice"), EntityData("client-id", "hers")
QUOTA = ClientQuotaRecord([ALICE, HERS], "producer_byte_rate", 1000.0)
LOGIN = UserScramCredentialRecord("alice", 1, b"salt", b"stored", b"server", 4096)
RULE = AccessControlEntryRecord(b"i" * 16, 2, "t", 3, "User:alice", "*", 3, 3)
TOKEN = DelegationTokenRecord("User:alice", "User:alice", ["User:bob"], 1, 2, 3, "token")
ALL: list[MetadataRecord] = [QUOTA, LOGIN, RULE, TOKEN]


def keeping(*records: MetadataRecord) -> UnservedRecords:
    kept = UnservedRecords()
    for record in records:
        kept.replay(record)
    return kept


@pytest.mark.parametrize(
    ("record", "removal"),
    [
        (QUOTA, ClientQuotaRecord([HERS, ALICE], "producer_byte_rate", 0.0, True)),
        (LOGIN, RemoveUserScramCredentialRecord("alice", 1)),
        (RULE, RemoveAccessControlEntryRecord(b"i" * 16)),
        (TOKEN, RemoveDelegationTokenRecord("token")),
    ],
)
def test_each_kind_is_kept_until_it_is_taken_away(record: MetadataRecord, removal: MetadataRecord):
    kept = keeping(*ALL)
    assert record in kept

    kept.replay(removal)

    assert list(kept) == [each for each in ALL if each is not record]


def test_a_new_value_takes_the_place_of_the_old_one():
    later = ClientQuotaRecord([HERS, ALICE], "producer_byte_rate", 5.0)

    assert list(keeping(QUOTA, later)) == [later]
    assert QUOTA not in keeping(QUOTA, later)


def test_another_quota_of_the_same_entity_stands_beside_it():
    other = ClientQuotaRecord([ALICE, HERS], "request_percentage", 5.0)

    assert list(keeping(QUOTA, other)) == [QUOTA, other]


def test_what_was_never_there_is_taken_away_in_silence():
    assert list(keeping(RemoveDelegationTokenRecord("nobody's"))) == []


def test_removals_lead_from_one_state_to_a_later_one():
    before, later = keeping(*ALL), keeping(RULE)

    for removal in before.removals(later):
        before.replay(removal)

    assert before == later


def test_a_copy_goes_its_own_way():
    kept = keeping(RULE)
    copy = kept.copy()
    kept.replay(TOKEN)

    assert list(copy) == [RULE]


def test_it_tells_how_much_there_is_of_what():
    assert keeping(RULE, QUOTA, LOGIN).told() == "1 access rules, 1 client quotas, 1 SCRAM credentials"
    assert UnservedRecords().told() == ""
