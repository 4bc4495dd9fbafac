"""Settings are declared once, as rows of a table, and everything else is read off the row.

    class LogSettings:
        retention_ms: int = topic_setting(
            "retention.ms", LONG, 7 * DAY, "How long …", least=-1,
            broker=("log.retention.ms", minutes("log.retention.minutes"), hours("log.retention.hours")),
        )

Parsing, bounds, DescribeConfigs, the checks of AlterConfigs and docs/settings.md all come from that row; to
add a setting is to add a row. A setting of Kafka's that nothing honours is a row that says why (`inert`): it may
be given, and whoever gives it is told that it changes nothing.

Two kinds of rows. A broker's setting says whether it may change while the broker runs. A topic's setting
always may, and names the broker's settings that give its default to topics without a value of their own.
Those need no rows by themselves: `broker_rows` derives them, each with the unit in which it counts.

The attribute of a setting is its name with "_" for ".".

Read next: layers.py, on where a value comes from.
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeVar

from andiron.model.errors import AndironError

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
MAX_INT, MAX_LONG = (1 << 31) - 1, (1 << 63) - 1

T = TypeVar("T")

# When a new value counts: after a restart, or at once (given to one broker or to all of them).
Reload = Literal["restart", "live"]


class SettingError(AndironError):
    """A setting that cannot stand as it is; the message names it and says what it may be."""

    def __init__(self, name: str, complaint: str) -> None:
        super().__init__(f"{name}: {complaint}")
        self.name = name


class Type(enum.Enum):
    """The types of Kafka's settings, with their numbers in DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


BOOLEAN, STRING, INT, SHORT, LONG = Type.BOOLEAN, Type.STRING, Type.INT, Type.SHORT, Type.LONG
DOUBLE, LIST, CLASS, PASSWORD = Type.DOUBLE, Type.LIST, Type.CLASS, Type.PASSWORD

_BITS = {SHORT: 16, INT: 32, LONG: 64}


class Synonym(NamedTuple):
    """A broker's setting that gives a topic's setting its default, and its unit in the topic's units."""

    name: str
    scale: int = 1

    def to_topic(self, value: Any) -> Any:
        """The value in the topic's unit; -1 stands for no limit in every unit."""
        return value if self.scale == 1 else max(value * self.scale, -1)


def hours(name: str) -> Synonym:
    """A synonym that counts hours where the topic counts milliseconds."""
    return Synonym(name, HOUR)


def minutes(name: str) -> Synonym:
    """A synonym that counts minutes where the topic counts milliseconds."""
    return Synonym(name, MINUTE)


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One setting."""

    name: str
    type: Type
    default: Any  # None: it has no value unless it is given one
    doc: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    check: Callable[[Any], str | None] | None = None  # a complaint, or None
    reload: Reload = "restart"
    internal: bool = False  # obeyed but not shown
    synonyms: tuple[Synonym, ...] = ()  # the broker's settings of one topic setting, the strongest first
    inert: str = ""  # why it has no effect; "": it has one

    @property
    def attribute(self) -> str:
        return self.name.replace(".", "_")

    @property
    def sensitive(self) -> bool:
        """Whether its value is a secret, never to be shown."""
        return self.type is PASSWORD

    def parse(self, text: str) -> Any:
        """The value that a string stands for; SettingError if it may not have it."""
        value = self._read(text.strip())
        complaint = self._bounds_complaint(value) or self._choices_complaint(value)
        if complaint is None and self.check is not None:
            complaint = self.check(value)
        if complaint is not None:
            raise SettingError(self.name, complaint)
        return value

    def render(self, value: Any) -> str | None:
        """The value as Kafka's tools show it."""
        if value is None or self.sensitive:
            return None
        match self.type:
            case Type.BOOLEAN:
                return "true" if value else "false"
            case Type.DOUBLE:
                return render_double(value)
            case Type.LIST:
                return ",".join(value)
        return str(value)

    def allowed(self) -> str:
        """What it may be, in a few words, for the reference."""
        if self.choices:
            return ", ".join(self.choices)
        if self.least is None and self.most is None:
            return ""
        if self.most is None:
            return f"at least {self.least}"
        return f"{self.least} to {self.most}"

    def _read(self, text: str) -> Any:
        match self.type:
            case Type.BOOLEAN:
                if text.lower() not in ("true", "false"):
                    raise SettingError(self.name, f"{text!r} is neither true nor false")
                return text.lower() == "true"
            case Type.SHORT | Type.INT | Type.LONG:
                return self._read_integer(text)
            case Type.DOUBLE:
                return self._read_double(text)
            case Type.LIST:
                return self._read_list(text)
        return text

    def _read_integer(self, text: str) -> int:
        try:
            value = int(text if text.isascii() and "_" not in text else "")
        except ValueError:
            raise SettingError(self.name, f"{text!r} is not a whole number") from None
        limit = 1 << (_BITS[self.type] - 1)
        if not -limit <= value < limit:
            raise SettingError(self.name, f"{value} does not fit into {_BITS[self.type]} bits")
        return value

    def _read_double(self, text: str) -> float:
        try:
            value = float(text if "_" not in text else "")
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise SettingError(self.name, f"{text!r} is not a number")
        return value

    def _read_list(self, text: str) -> tuple[str, ...]:
        if not text:
            return ()
        items = [item.strip() for item in text.split(",")]
        if not all(items):
            raise SettingError(self.name, f"{text!r} has an empty item")
        return tuple(dict.fromkeys(items)) if self.choices else tuple(items)

    def _bounds_complaint(self, value: Any) -> str | None:
        if self.least is not None and value < self.least:
            return f"{value} is below {self.least}, the least it may be"
        if self.most is not None and value > self.most:
            return f"{value} is above {self.most}, the most it may be"
        return None

    def _choices_complaint(self, value: Any) -> str | None:
        if self.choices:
            for item in value if self.type is LIST else (value,):
                if item not in self.choices:
                    return f"{item!r} is none of {', '.join(self.choices)}"
        return None


def setting(
    name: str,
    type: Type,
    default: Any,
    doc: str,
    *,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    check: Callable[[Any], str | None] | None = None,
    reload: Reload = "restart",
    internal: bool = False,
) -> Any:
    """Declare a setting of a broker, as a field of a dataclass."""
    row = Row(name, type, default, doc, least, most, choices, check, reload, internal)
    return dataclasses.field(default=default, metadata={"row": row})


def topic_setting(
    name: str,
    type: Type,
    default: Any,
    doc: str,
    *,
    broker: tuple[str | Synonym, ...] | str = (),
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    check: Callable[[Any], str | None] | None = None,
    internal: bool = False,
    inert: str = "",
) -> Any:
    """Declare a setting of a topic; `broker` names those that give its default, the strongest first."""
    named = (broker,) if isinstance(broker, str) else broker
    synonyms = tuple(Synonym(each) if isinstance(each, str) else each for each in named)
    row = Row(name, type, default, doc, least, most, choices, check, "live", internal, synonyms, inert)
    return dataclasses.field(default=default, metadata={"row": row})


def inert_setting(name: str, type: Type, default: Any, why: str, **bounds: Any) -> Any:
    """Declare a setting of a topic, or of a group, that is taken and has no effect."""
    return topic_setting(name, type, default, f"Without effect: {why}.", inert=why, **bounds)


def rows(table: type) -> dict[str, Row]:
    """The rows of a table by the names of the settings, in the order of their declaration."""
    found: dict[str, Row] = {}
    for field in dataclasses.fields(table):
        row: Row = field.metadata["row"]
        assert row.attribute == field.name, f"{row.name} is declared as {field.name}"
        found[row.name] = row
    return found


def broker_rows(table: type) -> dict[str, Row]:
    """The broker's settings that give the topic settings of a table their defaults.

    Of several, the weakest has the default, in its own unit, and the others have no value until given one.
    The strongest alone may change while the broker runs, so that it always has the last word.
    """
    found: dict[str, Row] = {}
    for row in rows(table).values():
        for synonym in row.synonyms:
            weakest, strongest = synonym == row.synonyms[-1], synonym == row.synonyms[0]
            found[synonym.name] = dataclasses.replace(
                row,
                name=synonym.name,
                type=row.type if synonym.scale == 1 else INT,
                default=_in_unit(row.default, synonym.scale) if weakest else None,
                least=_in_unit(row.least, synonym.scale),
                doc=f"What {row.name} is{_UNITS[synonym.scale]} for a topic that sets none. {row.doc}",
                reload="live" if strongest else "restart",
            )
    return found


def parse(table: type[T], given: Mapping[str, str]) -> T:
    """A table of values from strings; what is not given keeps its default."""
    return table(**parse_values(rows(table), given))


def meant(name: str, known: Iterable[str]) -> str:
    """To be added to a complaint about a name that nobody knows: the known one it is most like, if there is one."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.75)
    return f"; did you mean {near[0]}?" if near else ""


def parse_values(table: Mapping[str, Row], given: Mapping[str, str]) -> dict[str, Any]:
    """The values that were given, by attribute."""
    values: dict[str, Any] = {}
    for name, text in given.items():
        row = table.get(name)
        if row is None:
            raise SettingError(name, f"there is no such setting{meant(name, table)}")
        values[row.attribute] = row.parse(text)
    return values


def as_markdown(table: Iterable[Row]) -> str:
    """The reference of a table; docs/settings.md is made of these."""
    lines = [
        "| setting | type | default | allowed | changes | meaning |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in table:
        if not row.internal and not row.inert:
            default = row.render(row.default)
            shown = "" if default is None else f"`{default}`" if default else "empty"
            cells = [
                f"`{row.name}`",
                row.type.name.lower(),
                shown,
                row.allowed(),
                _CHANGES[row.reload],
                row.doc,
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def inert_as_markdown(table: Iterable[Row]) -> str:
    """The settings of a table that have no effect, by the reason why."""
    by_reason: dict[str, list[str]] = {}
    for row in table:
        if row.inert and not row.internal:
            by_reason.setdefault(row.inert, []).append(f"`{row.name}`")
    lines = [f"| {reason} | {', '.join(names)} |" for reason, names in sorted(by_reason.items())]
    return "\n".join(["| why | settings |", "| --- | --- |", *lines])


def render_double(value: float) -> str:
    """A double as Java prints it: plain from 0.001 up to ten million, else with an exponent."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(float(value))
    shortest = next(text for digits in range(17) if float(text := f"{value:.{digits}e}") == value)
    mantissa, _, exponent = shortest.partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"


_UNITS = {1: "", MINUTE: ", in minutes,", HOUR: ", in hours,"}
_CHANGES = {"restart": "at a restart", "live": "live"}


def _in_unit(value: Any, scale: int) -> Any:
    """A bound or default in a coarser unit, rounded up so that it stays within the finer one's bounds."""
    return value if value is None or scale == 1 or value < 0 else -(-value // scale)
