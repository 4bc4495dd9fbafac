"""AlterUserScramCredentials (key 51), version 0: set and remove SCRAM credentials.

The client salts the password; the broker never sees it. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, data, i8, i16, i32, message, string, struct


@struct
class ScramCredentialDeletion:
    name: str = string()
    mechanism: int = i8()  # 1 SCRAM-SHA-256, 2 SCRAM-SHA-512


@struct
class ScramCredentialUpsertion:
    name: str = string()
    mechanism: int = i8()
    iterations: int = i32()
    salt: bytes = data()
    salted_password: bytes = data()


@message(api_key=51, versions=(0, 0), flexible=0)
class AlterUserScramCredentialsRequest:
    deletions: list[ScramCredentialDeletion] = array(ScramCredentialDeletion)
    upsertions: list[ScramCredentialUpsertion] = array(ScramCredentialUpsertion)


@struct
class AlterUserScramCredentialsResult:
    user: str = string()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)


@message(api_key=51, versions=(0, 0), flexible=0)
class AlterUserScramCredentialsResponse:
    throttle_time_ms: int = i32()
    results: list[AlterUserScramCredentialsResult] = array(AlterUserScramCredentialsResult)
