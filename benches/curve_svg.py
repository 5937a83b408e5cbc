"""Draws unknowns and mates over seconds, with logarithmic axes, as a self-contained SVG file.

The background is transparent. The colours follow the viewer's preference for light or dark.
"""

import dataclasses
import math

WIDTH, HEIGHT = 760, 354
LEFT, TOP, PANEL_WIDTH, PANEL_HEIGHT, GAP = 48, 58, 308, 240, 68
NAME_WIDTH = 90

# Colours of the curves, on light and on dark background.
COLOURS = [("#0969da", "#4493f8"), ("#bc4c00", "#f0883e"), ("#8250df", "#ab7df8"), ("#1a7f37", "#3fb950")]


def colours(shade):
    lines = (f".c{index} {{ stroke: {pair[shade]}; fill: {pair[shade]}; }}" for index, pair in enumerate(COLOURS))
    return "\n".join(lines)


STYLE = f"""
text {{ font: 12px system-ui, sans-serif; fill: #1f2328; }}
.small {{ font-size: 11px; fill: #59636e; }}
.grid {{ stroke: #d1d9e0; stroke-width: 1; }}
{colours(0)}
polyline.line {{ stroke-width: 2; fill: none; }}
text.name {{ stroke: none; font-weight: 600; }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6edf3; }}
.small {{ fill: #9198a1; }}
.grid {{ stroke: #3d444d; }}
{colours(1)}
}}
"""


@dataclasses.dataclass
class Curve:
    """A program and its points: seconds, mates, unknowns or None, limit of nodes."""

    name: str
    points: list


class Axis:
    """A logarithmic axis from the least to the greatest value, in pixels."""

    def __init__(self, values, start, end):
        self.least, self.greatest = min(values) / 1.08, max(values) * 1.08
        self.start, self.end = start, end

    def at(self, value):
        share = math.log(value / self.least) / math.log(self.greatest / self.least)
        return self.start + share * (self.end - self.start)

    def ticks(self):
        """Round numbers on the axis: multiples of powers of ten if there are enough, otherwise evenly spaced."""
        for digits in ([1], [1, 3], [1, 2, 5]):
            powers = range(math.floor(math.log10(self.least)), 8)
            ticks = self.within(digit * 10**power for power in powers for digit in digits)
            if len(ticks) >= 4:
                return ticks
        span = self.greatest - self.least
        step = next((n for n in (1, 2, 5, 10, 20, 50, 100) if span / n < 8), 10 ** math.floor(math.log10(span)))
        return self.within(step * n for n in range(int(self.greatest / step) + 1))

    def within(self, values):
        return [value for value in values if self.least <= value <= self.greatest]


def draw(curves):
    """Returns the SVG text, with unknowns on the left and mates on the right."""
    curves = list(curves)
    panels = [("positions left unknown", 2), ("mates found", 1)]
    parts = []
    for number, (title, column) in enumerate(panels):
        left = LEFT + number * (PANEL_WIDTH + GAP)
        parts += panel(curves, title, column, left)
    for index, curve in enumerate(curves):
        parts.append(text(LEFT + NAME_WIDTH * index, TOP - 40, curve.name, f"name c{index}"))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="Seconds against unknowns and mates">\n<style>{STYLE}</style>\n{body}\n</svg>\n'
    )


def panel(curves, title, column, left):
    # A curve without values for this panel keeps its colour in the other panel.
    shown = {index: curve for index, curve in enumerate(curves) if curve.points[0][column] is not None}
    points = [point for curve in shown.values() for point in curve.points]
    across = Axis([point[0] for point in points], left, left + PANEL_WIDTH)
    # 0 has no place on a logarithmic axis and is drawn as 1.
    up = Axis([max(point[column], 1) for point in points], TOP + PANEL_HEIGHT, TOP)
    yield text(left, TOP - 14, title)
    for tick in across.ticks():
        yield grid(across.at(tick), TOP, across.at(tick), TOP + PANEL_HEIGHT)
        yield text(across.at(tick), TOP + PANEL_HEIGHT + 16, f"{tick:g}", "small", "middle")
    for tick in up.ticks():
        yield grid(left, up.at(tick), left + PANEL_WIDTH, up.at(tick))
        yield text(left - 6, up.at(tick) + 4, f"{tick:g}", "small", "end")
    middle = left + PANEL_WIDTH / 2
    yield text(middle, TOP + PANEL_HEIGHT + 34, "seconds, one core", "small", "middle")
    for index, curve in shown.items():
        places = [(across.at(point[0]), up.at(max(point[column], 1))) for point in curve.points]
        yield from line(places, curve, index)


def line(places, curve, index):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline class="line c{index}" points="{path}"/>'
    for (x, y), (seconds, mates, unknown, nodes) in zip(places, curve.points):
        title = f"{curve.name}, {nodes:,} nodes: {seconds:.3g} s, {mates} mates"
        if unknown is not None:
            title += f", {unknown} unknown"
        yield f'<circle class="c{index}" cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{title}</title></circle>'


def grid(x1, y1, x2, y2):
    return f'<path class="grid" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'


def text(x, y, content, kind="", anchor="start"):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{content}</text>'
