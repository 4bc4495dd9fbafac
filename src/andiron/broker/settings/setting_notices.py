"""What becomes of a `server.properties` that gives settings which have no effect here.

Those of Kafka 4.3 are rows (inert_settings.py). Beside them there are names that no table of Kafka's lists: whole
families, of plugins and of older versions. They are accepted where they can do no harm, and refused where they
promise protection. Whatever else is unknown is a mistake, most likely in typing.

A name that ends in "." stands for all names that begin with it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from andiron.model.settings import Row, SettingError

WITHOUT_EFFECT = {
    "no listener uses TLS or SASL": ("ssl.", "sasl.", "delegation.token."),
    "share and streams groups are not served": ("share.", "group.share.", "group.streams."),
    "there is no tiered storage": ("remote.", "rsm.config.", "rlmm.config."),
    "metrics are published in another way": ("metrics.", "kafka.metrics."),
    "it tunes a part of Kafka that is built differently here": (
        "group.coordinator.",
        "group.consumer.assignor.offload.enable",
        "leader.imbalance.per.broker.percentage",
        "metadata.log.segment.min.bytes",
    ),
}

REFUSED = {
    "there is no authorizer, and every client would be let in": (
        "super.users",
        "allow.everyone.if.no.acl.found",
    ),
    "a listener has no settings of its own": ("listener.name.",),
    "there is no ZooKeeper; the metadata is the controller's (process.roles)": ("zookeeper.",),
}


def why_without_effect(name: str) -> str | None:
    """Why a setting that has no row does nothing here; None if it is not such a one."""
    return _reason(name, WITHOUT_EFFECT)


def why_refused(name: str) -> str | None:
    """Why a setting that has no row may not be given here; None if it is not such a one."""
    return _reason(name, REFUSED)


def unknown(name: str, known: Iterable[str]) -> SettingError:
    """The complaint about a name that nobody knows, with the known one it is most like."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.75)
    return SettingError(
        name, f"there is no such setting; did you mean {close[0]}?" if close else "no such setting"
    )


def notices(given: Mapping[str, str], table: Mapping[str, Row]) -> list[str]:
    """One line for each reason, naming the settings given in vain: those with a value that is not the default."""
    by_reason: dict[str, list[str]] = {}
    for name, text in given.items():
        row = table.get(name)
        if row is None:
            reason = why_without_effect(name)
        else:
            reason = row.inert if row.parse(text) != row.default else None
        if reason:
            by_reason.setdefault(reason, []).append(name)
    return [f"without effect: {', '.join(names)} ({reason})" for reason, names in by_reason.items()]


def _reason(name: str, table: Mapping[str, tuple[str, ...]]) -> str | None:
    for reason, names in table.items():
        if any(name == each or (each.endswith(".") and name.startswith(each)) for each in names):
            return reason
    return None
