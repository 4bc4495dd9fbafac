"""DescribeUserScramCredentials (key 50), version 0: which SCRAM mechanisms users have, never the secrets.

Null users ask for all. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, i8, i16, i32, message, string, struct


@struct
class UserName:
    name: str = string()


@message(api_key=50, versions=(0, 0), flexible=0)
class DescribeUserScramCredentialsRequest:
    users: list[UserName] | None = array(UserName, nullable=True)


@struct
class CredentialInfo:
    mechanism: int = i8()  # 1 SCRAM-SHA-256, 2 SCRAM-SHA-512
    iterations: int = i32()


@struct
class DescribeUserScramCredentialsResult:
    user: str = string()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    credential_infos: list[CredentialInfo] = array(CredentialInfo)


@message(api_key=50, versions=(0, 0), flexible=0)
class DescribeUserScramCredentialsResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    results: list[DescribeUserScramCredentialsResult] = array(DescribeUserScramCredentialsResult)
