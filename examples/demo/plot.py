"""A picture as SVG text: time against length, and FAVOR+'s error against its number of features."""

import math
from xml.sax.saxutils import escape

COLOURS = ["#b3261e", "#1a5fb4", "#26a269", "#613583", "#c64600", "#5e5c64"]
WIDE, HIGH, LEFT, TOP, GAP = 400, 300, 70, 50, 190


class Panel:
    def __init__(self, left, title, x_label, y_label, xs, ys):
        self.left, self.title, self.x_label, self.y_label = left, title, x_label, y_label
        self.x_range = (min(xs), max(xs))
        self.y_range = (10 ** math.floor(math.log10(min(ys))), 10 ** math.ceil(math.log10(max(ys))))
        self.parts = []

    def x(self, value):
        a, b = (math.log(v) for v in self.x_range)
        return self.left + WIDE * (math.log(value) - a) / ((b - a) or 1)

    def y(self, value):
        a, b = (math.log(v) for v in self.y_range)
        return TOP + HIGH - HIGH * (math.log(value) - a) / ((b - a) or 1)

    def text(self, x, y, text, anchor="middle", **more):
        style = "".join(' %s="%s"' % (name.replace("_", "-"), value) for name, value in more.items())
        self.parts.append('<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>' % (x, y, anchor, style, escape(text)))

    def axes(self, x_ticks, x_text, y_text):
        self.parts.append('<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#888"/>' % (self.left, TOP, WIDE, HIGH))
        self.text(self.left + WIDE / 2, TOP - 16, self.title, font_weight="bold")
        self.text(self.left + WIDE / 2, TOP + HIGH + 40, self.x_label)
        self.text(self.left, TOP - 4, self.y_label, anchor="end")
        for value in x_ticks:
            self.text(self.x(value), TOP + HIGH + 18, x_text(value))
        value = self.y_range[0]
        while value <= self.y_range[1] * 1.001:
            self.parts.append('<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>'
                              % (self.left, self.y(value), self.left + WIDE, self.y(value)))
            self.text(self.left - 6, self.y(value) + 4, y_text(value), anchor="end")
            value *= 10

    def line(self, points, colour, dashed=False, dots=True):
        path = " ".join("%.1f,%.1f" % (self.x(x), self.y(y)) for x, y in points)
        self.parts.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>'
                          % (path, colour, ' stroke-dasharray="5 4"' if dashed else ""))
        if dots:
            self.parts += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (self.x(x), self.y(y), colour) for x, y in points]

    def labels(self, named):
        """Names at the right, each at its last point but never on another."""
        last = -1e9
        for y, name, colour in sorted((self.y(points[-1][1]), name, colour) for name, points, colour in named):
            last = max(y + 4, last + 15)
            self.text(self.left + WIDE + 8, last, name, anchor="start", fill=colour)


def short(n):
    return "%dk" % round(n / 1000) if n >= 1000 else "%d" % n


def seconds(s):
    return "%g s" % s if s >= 1 else "%g ms" % (s * 1e3) if s >= 1e-3 else "%g us" % (s * 1e6)


def draw(times, errors, machine):
    """times: {name: [(T, seconds)]}; errors: [(m, error)]. Returns the file's text."""
    all_points = [p for points in times.values() for p in points]
    first = Panel(LEFT, "time for the first T tokens", "T, tokens", "",
                  [x for x, _ in all_points], [y for _, y in all_points])
    first.axes(sorted({x for x, _ in all_points}), short, seconds)
    named = []
    for (name, points), colour in zip(times.items(), COLOURS):
        first.line(points, colour)
        named.append((name, points, colour))
    first.labels(named)
    law = [(m, errors[0][1] * math.sqrt(errors[0][0] / m)) for m, _ in errors]
    second = Panel(LEFT + WIDE + GAP, "FAVOR+ against softmax", "m, random features", "",
                   [m for m, _ in errors], [e for _, e in errors + law])
    second.axes([m for m, _ in errors], str, lambda e: "%g" % e)
    second.line(law, "#5e5c64", dashed=True, dots=False)
    second.line(errors, COLOURS[1])
    second.labels([("error", errors, COLOURS[1]), ("1/sqrt(m)", law, "#5e5c64")])
    wide, high = LEFT + 2 * WIDE + GAP + 90, TOP + HIGH + 80
    body = "\n".join(first.parts + second.parts)
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
            'font-family="sans-serif" font-size="12">\n<rect width="100%%" height="100%%" fill="white"/>\n%s\n'
            '<text x="%d" y="%d" fill="#555">%s</text>\n</svg>\n'
            % (wide, high, wide, high, body, LEFT, high - 12, escape(machine)))
