"""What Prometheus would make of a small cluster (cluster.py): scrapes of it through the shipped rules, by promtool.

Time passes as the cluster's does, so that twenty minutes of scrapes cost a second or two, and a node that is killed or
paused does not answer, as a scrape finds out. `Watched.alarms` is what fires at the end.
"""

import json
import re
import subprocess
from pathlib import Path

from unit.edge.metrics.scraped import host_of, scraped

RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "andiron-rules.yml"
SCRAPE_MS = 15_000
BUSY = 0.05  # of the time of every loop, which here takes none


class Watched:
    """A cluster that is scraped every so often."""

    def __init__(self, cluster):
        self.cluster, self.scrapes = cluster, 0
        self.series = {}  # name and labels → the values, None where there was no sample
        self.hosts = {}  # of each life of a node

    def pass_time(self, minutes, each_time=lambda: None):
        """Let time pass, with a scrape every quarter of a minute and something that happens before each."""
        for _ in range(int(minutes * 60_000) // SCRAPE_MS):
            each_time()
            self.cluster.pass_time(SCRAPE_MS, step=100)
            self.scrape()

    def scrape(self):
        for number, member in self.cluster.members.items():
            answers = member.node is not None and number not in self.cluster.paused
            seen = self._seen(member) if answers else {}
            for name, value in {"up": int(answers), **seen}.items():
                self._note(_labelled(name, f"node-{number}"), value)
        self.scrapes += 1

    def alarms(self, folder):
        """The alarms that fire by now, by name, with how many of each."""
        given = [
            {"series": name, "values": " ".join("_" if value is None else repr(value) for value in padded)}
            for name, values in self.series.items()
            for padded in [values + [None] * (self.scrapes - len(values))]
        ]
        case = {
            "interval": f"{SCRAPE_MS // 1000}s",
            "input_series": given,
            "promql_expr_test": [
                {
                    "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                    "eval_time": f"{(self.scrapes - 1) * SCRAPE_MS // 1000}s",
                    "exp_samples": [{"labels": '{alertname="whatever fires"}', "value": -1}],
                }
            ],
        }
        file = folder / "case.json"  # which is YAML too
        file.write_text(
            json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "15s", "tests": [case]})
        )
        done = subprocess.run(
            ["promtool", "test", "rules", file], capture_output=True, text=True, check=False
        )
        return _got(done.stdout + done.stderr)

    def _seen(self, member):
        cluster = self.cluster
        host = self.hosts.setdefault((member.number, member.life), host_of(member.node, cluster.now))
        host.now, host.meter.idle_s = cluster.now, cluster.now / 1000 * (1 - BUSY)
        member.now = cluster.now
        return scraped(member, host)

    def _note(self, name, value):
        values = self.series.setdefault(name, [])
        values += [None] * (self.scrapes - len(values))
        values.append(value)


def _labelled(name, instance):
    bare, _, labels = name.partition("{")
    return f'{bare}{{job="andiron",instance="{instance}"' + (f",{labels}" if labels else "}")


def _got(said):
    """What promtool found in the place of what it was told to expect."""
    (line,) = [each.strip() for each in said.splitlines() if each.strip().startswith("got:")] or [said]
    assert line.startswith("got:"), said
    return {name: int(float(count)) for name, count in re.findall(r'alertname="(\w+)"} (\S+?)(?:,|$)', line)}
