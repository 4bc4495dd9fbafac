"""Every setting of Kafka's, read from its jars: what tests/golden/kafka_configs.json holds.

    python -m peers.kafka_settings      in tests/, writes the file anew for another version of Kafka

The broker's settings that give topics their defaults are kept from the file as it is: Kafka has them in code
and not in a table.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from peers import jars

SOURCE = Path(__file__).with_name("java_server") / "KafkaSettings.java"
GOLDEN = Path(__file__).parents[1] / "golden" / "kafka_configs.json"
ABOUT = (
    "topic settings as [type, default, broker settings * unit], broker settings as [type, default, changes live],"
    " group settings as [type, default, broker setting], those of client metrics as [type, default]"
)

Table = dict[str, Any]


def read() -> dict[str, Table]:
    """The tables as the file has them; what is internal to Kafka is left out."""
    command = [jars.java(), "-XX:TieredStopAtLevel=1", "-cp", jars.server_jars().classpath, str(SOURCE)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    synonyms = json.loads(GOLDEN.read_text())["topic"]
    live = found["live"]
    brokers = {**found["broker"], **live}
    return {
        "topic": {name: [*row[:2], synonyms[name][2]] for name, row in _public(found["topic"])},
        "broker": {name: [*row[:2], name in live] for name, row in _public(brokers)},
        "group": {name: [*row[:2], found["group synonyms"][name]] for name, row in _public(found["group"])},
        "client metrics": {name: row[:2] for name, row in _public(found["client metrics"])},
    }


def _public(table: Table) -> list[tuple[str, list[Any]]]:
    return sorted((name, row) for name, row in table.items() if not row[3])


def main() -> None:
    """Write the file."""
    parts = [f' "about": {json.dumps(f"Apache Kafka {jars.VERSION}: {ABOUT}")}']
    for kind, table in read().items():
        rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in table.items())
        parts.append(f' "{kind}": {{\n{rows}\n  }}')
    GOLDEN.write_text("{\n " + ",\n ".join(parts) + "\n}\n")


if __name__ == "__main__":
    main()
