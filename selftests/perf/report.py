#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# What scripts/bench does with figures that were measured.
#
#	report.py json FIGURES NAME=VALUE...	the figures as JSON, with what
#						else is known of the run
#	report.py table JSON			as a table of ratios
#
# FIGURES is what selftests/perf/measure writes. A figure that was measured
# several times is the median of them.

import json
import signal
import statistics
import sys

AXES = ("path", "mtu", "operation", "bytes", "qps", "posted")
CONTENDERS = ("frdma", "rxe", "tcp")
NAMES = {"tcp": "TCP"}


class Bad(Exception):
    """What is wrong with a file, for the user."""


def name(contender):
    return NAMES.get(contender, contender)


def parse_figure(line):
    """The axes, the contender and the cost that a line of FIGURES tells."""
    path, mtu, operation, size, qps, posted, contender, cost = line.split()
    row = (path, int(mtu), operation, int(size), int(qps), int(posted))
    return row, contender, None if cost == "-" else int(cost)


def read_figures(file):
    """One dictionary for each figure, in the order of the file."""
    runs = {}
    with open(file) as lines:
        for number, line in enumerate(lines, 1):
            try:
                row, contender, cost = parse_figure(line)
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
            "instructions": round(statistics.median(known))
            if known else None,
            "runs": costs,
        })
    return figures


def check_figure(file, figure):
    """Refuses what is no figure: something is missing, or of another type."""
    kinds = {axis: int for axis in AXES} | {
        "path": str, "operation": str, "contender": str,
        "instructions": (int, type(None))}
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
        check_figure(file, figure)
    return bench


def by_row(bench):
    """The costs of all contenders, under the axes."""
    rows = {}
    for figure in bench["figures"]:
        row = tuple(figure[axis] for axis in AXES)
        rows.setdefault(row, {})[figure["contender"]] = figure["instructions"]
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


TABLE = AXES + tuple(name(c) for c in CONTENDERS) + tuple(
    f"{name(c)}/frdma" for c in CONTENDERS[1:])


def table_rows(bench):
    for row, costs in compared(bench):
        yield [str(value) for value in row] + [
            shown(costs.get(contender)) for contender in CONTENDERS] + [
            ratio(costs.get(contender), costs["frdma"])
            for contender in CONTENDERS[1:]]


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


def print_table(bench):
    print_columns(TABLE, table_rows(bench))


def write_json(file, facts):
    bench = dict(fact.split("=", 1) for fact in facts)
    bench["figures"] = read_figures(file)
    json.dump(bench, sys.stdout, indent=1)
    print()


def main(command=None, *words):
    if command == "json" and words:
        write_json(words[0], words[1:])
    elif command == "table" and len(words) == 1:
        print_table(read_json(words[0]))
    else:
        raise Bad("json FIGURES NAME=VALUE... | table JSON")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        main(*sys.argv[1:])
    except Bad as bad:
        sys.exit(f"bench: {bad}")
