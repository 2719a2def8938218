#!/usr/bin/env python3
"""Computes the values of the figures from clusters.csv, compares them with figures.csv, and draws them into the folder drawn.

Needs Python alone. Intervals are those of figures.csv. Exit code 1 if a value is another.
"""
import csv
import html
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def rows(name):
    with open(HERE / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text):
    return float(text) if text else None


def computed(figures, clusters):
    """The value of each row: from the sums of its clusters, or of a difference from the two groups."""
    sums, found = {}, {}
    for of in clusters:
        sums.setdefault(of["row"], []).append((int(of["n"]), float(of["sum"])))
    for row in figures:
        own = sums.get(row["row"], [])
        if row["part"] == "difference":
            first, second = found[row["first"]], found[row["second"]]
            found[row["row"]] = None if first is None or second is None else second - first
        elif not own:
            found[row["row"]] = None
        elif row["per"] == "cluster":
            found[row["row"]] = math.fsum(total / n for n, total in own) / len(own)
        else:
            found[row["row"]] = math.fsum(total for _, total in own) / sum(n for n, _ in own)
    return found


def near(one, other):
    if one is None or other is None:
        return one is other
    return abs(one - other) <= 1e-9 * max(1, abs(one), abs(other))


def shown(value):
    return "-" if value is None else f"{value:.6g}"


def picture(title, groups):
    """A dot with its interval for each group, as SVG."""
    ends = [end for of in groups for end in (of["low"], of["estimate"], of["high"]) if end is not None] or [0]
    low, high = min(ends), max(ends)
    if low == high:
        low, high = low - 0.5, high + 0.5
    place = lambda value: 240 + 340 * (value - low) / (high - low)
    height = 60 + 24 * len(groups)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{height}" font-family="sans-serif" font-size="12">',
        f'<text x="10" y="20">{html.escape(title)}</text>',
    ]
    for at, of in enumerate(groups):
        y = 44 + 24 * at
        lines.append(f'<text x="10" y="{y + 4}">{html.escape(of["group"])}</text>')
        if of["low"] is not None:
            lines.append(f'<path stroke="black" d="M{place(of["low"]):.2f} {y}H{place(of["high"]):.2f}"/>')
        if of["estimate"] is not None:
            lines.append(f'<circle r="4" cx="{place(of["estimate"]):.2f}" cy="{y}"/>')
    y = 48 + 24 * len(groups)
    lines += [f'<text x="{place(end):.2f}" y="{y}" text-anchor="middle" fill="#555">{end:.4g}</text>' for end in (low, high)]
    return "\n".join([*lines, "</svg>", ""])


def main():
    figures = rows("figures.csv")
    found = computed(figures, rows("clusters.csv"))
    wrong = 0
    for row in figures:
        due, value = number(row["estimate"]), found[row["row"]]
        is_same = near(due, value)
        wrong += not is_same
        interval = f" [{shown(number(row['low']))}, {shown(number(row['high']))}]" if row["low"] else ""
        said = "" if is_same else f"  NOT THE DEPOSITED {shown(due)}"
        print(f"{row['figure']}: {row['group']}: {shown(value)}{interval}{said}")
    drawn = HERE / "drawn"
    drawn.mkdir(exist_ok=True)
    titles = list(dict.fromkeys(row["figure"] for row in figures))
    for at, title in enumerate(titles, 1):
        groups = [
            {"group": row["group"], "estimate": found[row["row"]], "low": number(row["low"]), "high": number(row["high"])}
            for row in figures
            if row["figure"] == title and row["part"] == "group"
        ]
        (drawn / f"figure-{at}.svg").write_text(picture(title, groups), encoding="utf-8")
    print(f"{len(figures)} values, {wrong} different; pictures in drawn: {len(titles)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
