"""The series of a soak as a picture: a plot each of memory, entries, descriptors and lines, with a line a node."""

from __future__ import annotations

from andiron.chaos.svg import TOP, Frame
from soaking.series import Series, Watch

WIDTH, HEIGHT = 860, 150
PLOTTED = ("memory", "kept in mind", "descriptors", "time of a request", "lines of the log")
COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7")
STYLE = (
    "text{font:11px sans-serif;fill:#777}.grid{stroke:#999;stroke-opacity:.25}polyline{fill:none;stroke-width:1.4}"
    + "".join(f".node{at}{{stroke:{colour}}}" for at, colour in enumerate(COLOURS))
)


def draw(watches: list[Watch]) -> str:
    """All plots below each other."""
    plots, top = [], 0
    for what in PLOTTED:
        series = [
            kept_in_mind(watch) if what == "kept in mind" else watch.series.get(what) for watch in watches
        ]
        plots.append(f'<g transform="translate(0 {top})">{_plot(what, watches, series)}</g>')
        top += HEIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img" '
        f'aria-label="the series of a soak"><style>{STYLE}</style>{"".join(plots)}</svg>\n'
    )


def kept_in_mind(watch: Watch) -> Series:
    """All tables of a node together."""
    tables = [each for each in watch.series.values() if each.unit == "entries"]
    sums = [
        (at[0][0], sum(value for _, value in at)) for at in zip(*(t.points for t in tables), strict=False)
    ]
    return Series("kept in mind", "entries", sums)


def _plot(what: str, watches: list[Watch], series: list[Series | None]) -> str:
    points = [point for each in series if each is not None for point in each.points]
    end, most = max((at for at, _ in points), default=1.0), max((value for _, value in points), default=1.0)
    frame = Frame(WIDTH, HEIGHT, (0.0, end / 60), (0.0, 1.15 * most or 1.0))
    unit = next((each.unit for each in series if each is not None), "")
    frame.values([0, round(most, -1 if most > 50 else 0)], unit)
    for minute in range(0, int(end / 60) + 1, max(1, int(end / 600))):
        frame.text(frame.x(minute), HEIGHT - 10, f"{minute} min", "middle")
    for at, (watch, each) in enumerate(zip(watches, series, strict=True)):
        if each is not None:
            frame.path([(time / 60, value) for time, value in each.points], f"node{at % len(COLOURS)}")
            frame.text(150 + 90 * at, TOP - 8, watch.name, "start", f"label node{at % len(COLOURS)}")
    frame.text(4, TOP - 8, what)
    return frame.render(what)
