#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# What scripts/bench does with figures that were measured.
#
#	report.py json FIGURES NAME=VALUE...	the figures as JSON, with what
#						else is known of the run
#	report.py table JSON			as a table of ratios, and how
#						far long messages are from what
#						they cannot be less than
#	report.py page DIR JSON...		all of them as DIR/index.html,
#						and in DIR/charts.gp what
#						gnuplot is to draw for it
#	report.py compare OLD NEW		what has become of each figure
#
# FIGURES is what selftests/perf/measure, or another script there, writes. A
# figure that was measured several times is the median of them. "unit" among what
# is known says what a message costs: instructions, if it is not there; "title"
# what stands above its table. Of a rate more is better, and ratios are the other
# way round: above 1 is in favour of frdma always.

import html
import json
import os
import signal
import statistics
import sys

AXES = ("path", "mtu", "operation", "bytes", "qps", "posted")
CONTENDERS = ("frdma", "frdma+poller", "rxe", "siw", "tcp", "frdma-rxe",
              "rxe-frdma")
NAMES = {"tcp": "TCP", "frdma-rxe": "frdma to rxe", "rxe-frdma": "rxe to frdma"}
RIVALS = ("rxe", "siw", "tcp")
RATES = ("Mbit/s",)
STREAMED = ("write", "send", "read")
BOUNDS_TITLE = ("How many times what the copies and CRC passes alone would"
                " cost, which is computed:")
BOUNDS_HEAD = ("path", "mtu", "bytes", "qps", "computed", *STREAMED)


class Bad(Exception):
    """What is wrong with a file, for the user."""


def name(contender):
    return NAMES.get(contender, contender)


def number(word, unit):
    """A figure as it is written: whole, unless it is a rate."""
    return float(word) if unit in RATES else int(word)


def parse_figure(line, unit):
    """The axes, the contender and the cost that a line of FIGURES tells."""
    path, mtu, operation, size, qps, posted, contender, cost = line.split()
    row = (path, int(mtu), operation, int(size), int(qps), int(posted))
    return row, contender, None if cost == "-" else number(cost, unit)


def unit_of(bench):
    return bench.get("unit", "instructions")


def is_rate(bench):
    return unit_of(bench) in RATES


def read_figures(file, unit):
    """One dictionary for each figure, in the order of the file."""
    digits = 1 if unit in RATES else None
    runs = {}
    with open(file) as lines:
        for number, line in enumerate(lines, 1):
            try:
                row, contender, cost = parse_figure(line, unit)
            except ValueError:
                raise Bad(f"{file}:{number}: no figure: {line.strip()}")
            runs.setdefault((row, contender), []).append(cost)
    if not runs:
        raise Bad(f"{file} has no figures")
    figures = []
    for (row, contender), costs in runs.items():
        known = [cost for cost in costs if cost is not None]
        figures.append({
            **dict(zip(AXES, row)),
            "contender": contender,
            unit: round(statistics.median(known), digits) if known else None,
            "runs": costs,
        })
    return figures


def check_figure(file, figure, unit):
    """Refuses what is no figure: something is missing, or of another type."""
    kinds = {axis: int for axis in AXES} | {
        "path": str, "operation": str, "contender": str,
        unit: (int, float, type(None))}
    for key, kind in kinds.items():
        if not isinstance(figure, dict) or key not in figure:
            raise Bad(f"{file}: a figure lacks '{key}': {figure}")
        if not isinstance(figure[key], kind):
            raise Bad(f"{file}: '{key}' is wrong: {figure}")


def read_json(file):
    """A file that "json" wrote, or a reason why it is none."""
    try:
        with open(file) as source:
            bench = json.load(source)
    except OSError as error:
        raise Bad(f"{file}: {error.strerror}")
    except ValueError as error:
        raise Bad(f"{file} is no JSON: {error}")
    figures = bench.get("figures") if isinstance(bench, dict) else None
    if not figures or not isinstance(figures, list):
        raise Bad(f"{file} has no figures: is it of make bench?")
    for figure in figures:
        check_figure(file, figure, unit_of(bench))
    return bench


def by_row(bench):
    """The costs of all contenders, under the axes."""
    rows = {}
    for figure in bench["figures"]:
        row = tuple(figure[axis] for axis in AXES)
        rows.setdefault(row, {})[figure["contender"]] = figure[unit_of(bench)]
    return rows


def is_trip(operation):
    return "-" in operation


def of_tcp(rows, row):
    """What TCP pays for the same: streams of the same bytes on the same link,
    and a ping-pong of 2 bytes for any round trip."""
    path, mtu, operation, size, qps, posted = row
    if is_trip(operation):
        key = (path, mtu, "trip", 2, 1, 1)
    elif qps == posted == 1:
        key = (path, mtu, "stream", size, 1, 1)
    else:
        return None
    return rows.get(key, {}).get("tcp")


def compared(bench):
    """Each row of RDMA, with what all contenders pay for it."""
    rows = by_row(bench)
    return [(row, {**costs, "tcp": of_tcp(rows, row)})
            for row, costs in rows.items() if "frdma" in costs]


def ratio(other, own):
    return f"{other / own:.2f}" if other and own else "-"


def shown(cost):
    return "-" if cost is None else f"{cost:,}"


def contenders(bench):
    """Those that were measured, frdma first."""
    there = {figure["contender"] for figure in bench["figures"]}
    return [c for c in CONTENDERS if c in there]


def rivals(bench):
    return [c for c in contenders(bench) if c in RIVALS]


def in_favour(bench, own, other):
    """How many times better the first is."""
    return ratio(own, other) if is_rate(bench) else ratio(other, own)


def table_head(bench):
    own, other = ("frdma/", "") if is_rate(bench) else ("", "/frdma")
    return [*AXES, *(name(c) for c in contenders(bench)),
            *(own + name(c) + other for c in rivals(bench))]


def table_rows(bench):
    for row, costs in compared(bench):
        yield [str(value) for value in row] + [
            shown(costs.get(c)) for c in contenders(bench)] + [
            in_favour(bench, costs["frdma"], costs.get(c))
            for c in rivals(bench)]


def print_columns(head, rows):
    """Words to the left, numbers to the right."""
    rows = list(rows)
    words = {"path", "operation", "contender"}
    widths = [max(len(row[i]) for row in [head] + rows)
              for i in range(len(head))]
    for row in [head] + rows:
        print("  ".join(
            word.ljust(width) if title in words else word.rjust(width)
            for title, word, width in zip(head, row, widths)).rstrip())


# Instructions of a pass over 64 bytes, where a CRC has 128 bits as in the guests
# of make bench (kernel/crc_x86.S, kernel/copy_x86.S), and what all three passes
# over a packet take to begin and end.
CRC_AND_COPY, CRC, COPY = 26, 18, 5
PASSES_BEGIN_AND_END = 60


def packets(mtu, size):
    """How many packets a message is, each as long as the link takes."""
    return -(-size // max(payload for payload in (256, 512, 1024, 2048, 4096)
                          if payload < mtu))


def bound(path, mtu, size):
    """What the copies and CRC passes of a message alone would cost: computed,
    not measured. In loopback it is copied, once; else the sender sums what it
    copies, and the receiver sums, and copies."""
    if path == "loopback":
        return size // 64 * COPY
    return (size // 64 * (CRC_AND_COPY + CRC + COPY) +
            packets(mtu, size) * PASSES_BEGIN_AND_END)


def bounds(bench):
    """Long messages: the bound, and how many times that an operation costs."""
    rows = {}
    for (path, mtu, operation, size, qps, _), costs in compared(bench):
        if operation in STREAMED and size >= 65536 and \
                unit_of(bench) == "instructions":
            rows.setdefault((path, mtu, size, qps), {})[operation] = \
                costs["frdma"]
    for (path, mtu, size, qps), costs in rows.items():
        least = bound(path, mtu, size)
        yield [path, str(mtu), str(size), str(qps), shown(least)] + [
            ratio(costs.get(operation), least) for operation in STREAMED]


def print_table(bench):
    print_columns(table_head(bench), table_rows(bench))
    least = list(bounds(bench))
    if least:
        print(f"\n{BOUNDS_TITLE}\n")
        print_columns(BOUNDS_HEAD, least)


# Charts: a name, a title, the rows to show, and what their labels say.
CHARTS = (
    ("mtu", "64 KiB, by MTU",
     lambda r: r[0] == "veth" and r[3:] == (65536, 1, 1),
     lambda r: f"{r[2]}, {r[1]}"),
    ("mtu-large", "1 MiB, by MTU",
     lambda r: r[0] == "veth" and r[3:] == (1048576, 1, 1),
     lambda r: f"{r[2]}, {r[1]}"),
    ("small", "Small messages at MTU 1500, one by one or in lists",
     lambda r: r[0] == "veth" and r[1] == 1500 and r[3] <= 4096 and
     not is_trip(r[2]),
     lambda r: f"{r[2]} {r[3]}, {r[4]} QP, {r[5]}"),
    ("qps", "64 KiB at MTU 1500, by number of QPs",
     lambda r: r[:2] == ("veth", 1500) and r[3] == 65536,
     lambda r: f"{r[2]}, {r[4]}"),
    ("trips", "Round trips at MTU 1500",
     lambda r: r[:2] == ("veth", 1500) and is_trip(r[2]),
     lambda r: r[2]),
    ("loopback", "Both programs on one device, MTU 1500",
     lambda r: r[0] == "loopback",
     lambda r: f"{r[2]} {r[3]}"),
)

# gnuplot's part that all charts share. Bars that belong together touch.
PLOT_STYLE = """\
set terminal svg size 960,400 font "sans-serif,12" background "white"
set style data histogram
set style histogram clustered gap 1
set style fill solid noborder
set datafile separator "\\t"
set datafile missing "-"
set key outside top right horizontal
set grid ytics lc rgb "#dddddd"
set border 3
set xtics nomirror rotate by -30
set bmargin 6
set ytics nomirror
set ylabel "instructions per message"
set format y "%'.0f"
set yrange [0:*]
"""

COLOURS = {"frdma": "#1b6ca8", "rxe": "#c8553d", "siw": "#d9a441",
           "tcp": "#8a8a8a"}


def charts(bench):
    """The charts that have something to show: name, title, rows. All are of
    instructions."""
    rows = compared(bench) if unit_of(bench) == "instructions" else []
    for chart, title, wanted, label in CHARTS:
        chosen = [(label(row), costs) for row, costs in rows if wanted(row)]
        if chosen:
            yield chart, title, chosen


def plot(chart, title, rows, directory):
    """What gnuplot is told to draw a chart of those who have figures."""
    shown_ones = [contender for contender in CONTENDERS
                  if any(costs.get(contender) for _, costs in rows)]
    lines = ["\t".join([f'"{label}"'] + [
        str(costs.get(contender) or "-")
        for contender in shown_ones]) for label, costs in rows]
    bars = ", ".join(
        f"$data using {column}{':xtic(1)' if column == 2 else ''} "
        f'title "{name(contender)}" lc rgb "{COLOURS[contender]}"'
        for column, contender in enumerate(shown_ones, 2))
    return "\n".join(["$data << EOD"] + lines + ["EOD",
                     f'set title "{title}"',
                     f'set output "{directory}/{chart}.svg"',
                     f"plot {bars}", ""])


PAGE = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>frdma: make bench</title>
<style>
body {{ font-family: sans-serif; max-width: 60em; margin: 2em auto }}
table {{ border-collapse: collapse }}
td, th {{ padding: .2em .6em; text-align: right;
	border-bottom: 1px solid #ddd }}
img {{ max-width: 100% }}
</style>
<h1>frdma, rdma_rxe, siw and TCP</h1>
{sections}
</html>
"""

SECTION = """\
<h2>{title}</h2>
<p>{about}.</p>
{charts}
{tables}
"""


def html_row(words, cell):
    return "<tr>" + "".join(
        f"<{cell}>{html.escape(word)}</{cell}>" for word in words)


def html_table(head, rows):
    return "\n".join(["<table>", html_row(head, "th")] + [
        html_row(row, "td") for row in rows] + ["</table>"])


def about(bench):
    """What is known of a run, in a line."""
    return "; ".join(f"{key} {value}" for key, value in bench.items()
                     if key not in ("figures", "title"))


def section(bench, title):
    """What the page has of one JSON."""
    pictures = [f'<p><img src="{chart}.svg" alt="{html.escape(caption)}"></p>'
                for chart, caption, _ in charts(bench)]
    tables = html_table(table_head(bench), table_rows(bench))
    least = list(bounds(bench))
    if least:
        tables += f"\n<p>{BOUNDS_TITLE}</p>\n" + html_table(BOUNDS_HEAD, least)
    return SECTION.format(
        title=html.escape(bench.get("title", title)),
        about=html.escape(about(bench)), charts="\n".join(pictures),
        tables=tables)


def write_page(directory, files):
    benches = [(read_json(file), os.path.basename(file)) for file in files]
    plots = [plot(*chart, directory) for bench, _ in benches
             for chart in charts(bench)]
    with open(os.path.join(directory, "charts.gp"), "w") as out:
        out.write("\n".join([PLOT_STYLE] + plots))
    with open(os.path.join(directory, "index.html"), "w") as out:
        out.write(PAGE.format(sections="\n".join(
            section(*bench) for bench in benches)))


def write_json(file, facts):
    bench = dict(fact.split("=", 1) for fact in facts)
    bench["figures"] = read_figures(file, unit_of(bench))
    json.dump(bench, sys.stdout, indent=1)
    print()


def compare(old, new):
    """Prints what each figure of either file has become, own ones first."""
    if unit_of(old) != unit_of(new):
        raise Bad(f"one has {unit_of(old)}, the other {unit_of(new)}")
    before, after = ({
        (figure["contender"],) + tuple(figure[axis] for axis in AXES):
        figure[unit_of(bench)] for figure in bench["figures"]}
        for bench in (old, new))
    rows = [[str(word) for word in key] + [
        shown(before.get(key)), shown(after.get(key)),
        ratio(after.get(key), before.get(key))]
        for key in sorted({**before, **after},
                          key=lambda key: (CONTENDERS.index(key[0])
                                           if key[0] in CONTENDERS else 9))]
    for label, bench in (("old", old), ("new", new)):
        print(f"{label}: {about(bench)}")
    print(f"{unit_of(new)}: {'more' if is_rate(new) else 'less'} is better\n")
    print_columns(("contender", *AXES, "old", "new", "new/old"), rows)


def main(command=None, *words):
    if command == "json" and words:
        write_json(words[0], words[1:])
    elif command == "table" and len(words) == 1:
        print_table(read_json(words[0]))
    elif command == "page" and len(words) > 1:
        write_page(words[0], words[1:])
    elif command == "compare" and len(words) == 2:
        compare(read_json(words[0]), read_json(words[1]))
    else:
        raise Bad("json FIGURES NAME=VALUE... | table JSON |"
                  " page DIR JSON... | compare OLD NEW")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        main(*sys.argv[1:])
    except Bad as bad:
        sys.exit(f"bench: {bad}")
