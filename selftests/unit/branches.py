#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Which branches of kernel/proto no unit test has taken.

usage: branches.py BUILD-DIR EXCEPTIONS

BUILD-DIR holds what a program built with --coverage has left there. Every
branch must have been taken, but for those that EXCEPTIONS names, and these
must not. A line there is

	FILE FUNCTION | the source line, blanks as they come | N | why not

where N is how many branches of that line are not taken. It is found again by
its text, so it stays right while other lines come and go.
"""

import collections
import glob
import json
import os
import subprocess
import sys


class Line:
    """What all objects together have seen of a line of a function."""

    def __init__(self):
        self.count = 0
        self.branches = []

    def add(self, count, branches):
        self.count += count
        width = max(len(self.branches), len(branches))
        old = self.branches + [0] * (width - len(self.branches))
        new = branches + [0] * (width - len(branches))
        self.branches = [a + b for a, b in zip(old, new)]


def read_gcov(build):
    """Lines with branches or without, by file, function and number."""
    notes = sorted(glob.glob(os.path.join(build, "*.gcda")))
    if not notes:
        sys.exit(f"branches: nothing in {build}: did the tests run?")
    out = subprocess.run(["gcov", "--json-format", "--stdout",
                          "--branch-probabilities"] + notes,
                         check=True, capture_output=True, text=True).stdout
    lines = collections.defaultdict(Line)
    for report in out.splitlines():
        report = json.loads(report)
        base = report["current_working_directory"]
        for source in report["files"]:
            path = os.path.realpath(os.path.join(base, source["file"]))
            if os.path.basename(os.path.dirname(path)) != "proto":
                continue
            for line in source["lines"]:
                where = (path, line.get("function_name", ""),
                         line["line_number"])
                lines[where].add(line["count"],
                                 [b["count"] for b in line["branches"]])
    return lines


def read_exceptions(path):
    wanted = {}
    with open(path, encoding="ascii") as f:
        for number, text in enumerate(f, 1):
            text = text.strip()
            if not text or text.startswith("#"):
                continue
            parts = [" ".join(p.split()) for p in text.split(" | ")]
            if len(parts) != 4 or not parts[2].isdigit() or not parts[3]:
                sys.exit(f"{path}:{number}: not 'FILE FUNCTION | line | N | "
                         "why'")
            wanted[(parts[0], parts[1])] = [int(parts[2]), number]
    return wanted


def main():
    build, exceptions = sys.argv[1:3]
    lines = read_gcov(build)
    wanted = read_exceptions(exceptions)
    total = collections.Counter()
    taken = collections.Counter()
    missing = collections.Counter()
    unrun = 0
    where = {}
    text = {}

    for (path, function, number), line in sorted(lines.items()):
        name = os.path.basename(path)
        if path not in text:
            with open(path, encoding="ascii") as f:
                text[path] = f.read().splitlines()
        total[name] += len(line.branches)
        taken[name] += sum(b > 0 for b in line.branches)
        lost = sum(b == 0 for b in line.branches)
        if not line.count:
            unrun += 1
            lost = lost or 1    # it may have no branch
        if lost:
            key = (f"{name} {function}",
                   " ".join(text[path][number - 1].split()))
            missing[key] += lost
            where[key] = f"{name}:{number}"

    bad = 0
    for key in sorted(set(missing) | set(wanted)):
        said = wanted.get(key, [0])[0]
        if missing[key] == said:
            continue
        bad += 1
        print(f"# {where.get(key, exceptions)}: {missing[key]} not taken, "
              f"{said} listed: {key[0]} | {key[1]}")
    for name in sorted(total):
        print(f"# {name}: {taken[name]} of {total[name]} branches")
    print(f"# all: {sum(taken.values())} of {sum(total.values())} branches; "
          f"{unrun} lines never ran; {len(wanted)} lines listed")
    print("TAP version 13\n1..1")
    print("not ok 1" if bad else "ok 1", "- every branch is taken or listed")
    print("# 0 passed, 1 failed, 0 skipped" if bad else
          "# 1 passed, 0 failed, 0 skipped")
    return bool(bad)


sys.exit(main())
