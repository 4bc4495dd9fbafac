"""The report: one HTML page that needs nothing beside it, with a plot for each thing that was watched.

    verdicts ─▶ how it was done ─▶ unavailability ─▶ each cell: ISR, latency, the account ─▶ scaling of a group

It says what was not measured too: a page that leaves that out would be read as if it had been.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from andiron.chaos import plots
from andiron.chaos.account import Latency
from andiron.chaos.experiment import Outcome
from andiron.chaos.rebalance import Scaling

STYLE = """
:root { --page:#fbfaf7; --ink:#22272e; --soft:#667080; --grid:#dfe2e6; --leads:#1f6f54; --follows:#8fc7ae;
 --out:#eceae4; --p50:#2b6cb0; --p99:#c05621; --silence:#f5d7d2; --bad:#b3261e; --good:#1f6f54; --mark:#8b5cf6; }
@media (prefers-color-scheme: dark) { :root { --page:#16191d; --ink:#e4e7eb; --soft:#98a2b0; --grid:#2b3038;
 --leads:#4fbf95; --follows:#2f6b55; --out:#22262c; --p50:#6cb0f0; --p99:#f0965c; --silence:#4a2320; --bad:#ff8a80;
 --good:#4fbf95; --mark:#b79cff; } }
body { background:var(--page); color:var(--ink); font:15px/1.5 system-ui,sans-serif; max-width:900px; margin:2em auto;
 padding:0 1em; }
h1 { font-size:1.5em; } h2 { font-size:1.15em; margin-top:2.2em; border-top:1px solid var(--grid); padding-top:1em; }
table { border-collapse:collapse; width:100%; font-size:.92em; } td,th { text-align:left; padding:.25em .6em .25em 0;
 border-bottom:1px solid var(--grid); } td.n,th.n { text-align:right; font-variant-numeric:tabular-nums; }
.wide { overflow-x:auto; } svg { width:100%; height:auto; display:block; margin:.6em 0; }
.label { font:11px system-ui,sans-serif; fill:var(--soft); } .mark-text { font:10px system-ui,sans-serif;
 fill:var(--mark); } line.grid { stroke:var(--grid); } line.mark { stroke:var(--mark); stroke-dasharray:3 3; }
.leads { fill:var(--leads); } .follows { fill:var(--follows); } .out { fill:var(--out); }
.silence { fill:var(--silence); }
.silence-bar { fill:var(--p99); } .p50,.p99 { fill:none; stroke-width:1.6; } .p50 { stroke:var(--p50); }
.p99 { stroke:var(--p99); } .lost { fill:var(--bad); } .good { color:var(--good); } .bad { color:var(--bad); }
.soft { color:var(--soft); font-size:.92em; } b.key { display:inline-block; width:.9em; height:.9em; border-radius:2px;
 vertical-align:-.1em; margin-right:.3em; }
"""


def render(outcomes: Sequence[Outcome], scalings: Sequence[Scaling], notes: Sequence[str]) -> str:
    """The page."""
    good = all(each.verdict.good for each in outcomes)
    told = "every cell showed what it had to show" if good else "not every cell showed what it had to show"
    sections = [
        "<h1>What becomes of acknowledged records</h1>",
        f"<p>Three nodes, three replicas, one partition. {_mark(good, told)}.</p>",
        _summary(outcomes),
        "<h2>How it was done</h2><ul>" + "".join(f"<li>{escape(each)}</li>" for each in notes) + "</ul>",
        "<h2>The longest time without an accepted write</h2>",
        plots.unavailability(outcomes),
        *(_cell(each) for each in outcomes),
        _scalings(scalings),
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    body = "\n".join(sections)
    return (
        f"<!doctype html><html lang=en><head>{head}<title>andiron chaos</title><style>{STYLE}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def _summary(outcomes: Sequence[Outcome]) -> str:
    rows = "".join(
        f"<tr><td>{escape(each.cell.name)}</td><td class=n>{each.account.acked:,}</td>"
        f"<td class=n>{len(each.account.lost):,}</td><td class=n>{len(each.account.duplicated):,}</td>"
        f"<td class=n>{len(each.account.reordered):,}</td>"
        f"<td class=n>{each.unavailable.seconds if each.unavailable else 0:.1f} s</td>"
        f"<td>{_mark(each.verdict.good, each.verdict.text)}</td></tr>"
        for each in outcomes
    )
    head = (
        "<th>cell<th class=n>acknowledged<th class=n>lost<th class=n>twice<th class=n>out of order"
        "<th class=n>unavailable<th>verdict"
    )
    return f"<div class=wide><table><tr>{head}</tr>{rows}</table></div>"


def _cell(outcome: Outcome) -> str:
    marks, account = outcome.marks, outcome.account
    left = (
        f"left the ISR {marks.out_of_isr - marks.harmed:.1f} s later"
        if marks.out_of_isr is not None
        else "did not leave the ISR"
    )
    window = account.loss_window
    lost = (
        f"{len(account.lost):,} acknowledged records are lost (red dots, by when they were acknowledged): "
        f"a window of {window[1] - window[0]:.2f} s, offsets {_offsets(outcome)}"
        if window
        else "no acknowledged record is lost"
    )
    return (
        f"<h2>{escape(outcome.cell.name)}</h2><p>{_mark(outcome.verdict.good, outcome.verdict.text)}</p>"
        f"<p>Node {outcome.follower}, a follower: {escape(outcome.fault)}; it {left}. Node {outcome.leader} led, was "
        f"cut off for {marks.killed - marks.cut:.1f} s and killed; {lost}.</p>"
        f"<p class=soft>{_key('leads', 'leads')} {_key('follows', 'in the ISR')} {_key('out', 'out of the ISR')}</p>"
        f"{plots.in_sync(outcome)}<p class=soft>{_key('p50', 'p50')} {_key('p99', 'p99')} "
        f"{_key('silence', 'no write accepted')} {_key('bad', 'lost')}</p>{plots.latency(outcome)}"
        f"{_latencies(outcome)}"
    )


def _offsets(outcome: Outcome) -> str:
    offsets = sorted(each.offset for each in outcome.account.lost)
    return f"{offsets[0]:,} to {offsets[-1]:,}" if offsets and offsets[0] >= 0 else "that were never told"


def _latencies(outcome: Outcome) -> str:
    def row(name: str, found: Latency | None) -> str:
        if found is None:
            return f"<tr><td>{name}<td class=n>0<td class=n>-<td class=n>-<td class=n>-</tr>"
        cells = "".join(f"<td class=n>{value:,.1f} ms" for value in found[1:])
        return f"<tr><td>{name}<td class=n>{found.records:,}{cells}</tr>"

    head = "<th>records acknowledged<th class=n>count<th class=n>p50<th class=n>p99<th class=n>longest"
    rows = row("before", outcome.before) + row("with a follower harmed", outcome.during)
    return f"<table><tr>{head}</tr>{rows}{row('from the cut on', outcome.after)}</table>"


def _scalings(scalings: Sequence[Scaling]) -> str:
    if not scalings:
        return ""
    rows = "".join(
        f"<tr><td>{escape(each.kind)}<td class=n>{each.settled:,.0f} ms"
        f"<td>{', '.join(f'{at}: {ms:,.0f}' + ('*' if at in each.moved else '') for at, ms in each.partitions.items())}"
        f"<td>{', '.join(f'{at}: {ms:,.0f}' for at, ms in each.members.items())}</tr>"
        for each in scalings
    )
    head = "<th>protocol<th class=n>settled after<th>longest pause of each partition, ms (* moved)<th>of each member"
    return (
        "<h2>A group is scaled from one member to three</h2><p class=soft>Of member 0 the longest time in which it was "
        "given nothing; of those who join, the time until their first record. Every partition gets a record each 25 ms."
        f"</p><div class=wide><table><tr>{head}</tr>{rows}</table></div>"
    )


def _mark(good: bool, text: str) -> str:
    return f'<strong class="{"good" if good else "bad"}">{escape(text)}</strong>'


def _key(colour: str, text: str) -> str:
    return f'<span><b class=key style="background:var(--{colour})"></b>{escape(text)}</span>'
