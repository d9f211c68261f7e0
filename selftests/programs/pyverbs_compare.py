#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Compares records of ../lib/pyverbs_run.py: of frdma, and of the other driver.

usage: pyverbs_compare.py counts NAME RECORD [NAME RECORD]...
       pyverbs_compare.py differ FRDMA OTHER
       pyverbs_compare.py leads LEAST FRDMA OTHER
       pyverbs_compare.py skips PAGE RECORD...

counts: a table of verdicts, and of the reasons for skips. differ: what passed
on one of them only. leads: fails unless frdma passed at least so many more.
skips: fails if a test was skipped for which no row of the
page's table gives a reason. Such a row begins "| `TEST` | `SAID` |", both as
shell patterns.
"""

import collections
import fnmatch
import re
import sys

VERDICTS = ("passed", "failed", "error", "skipped")


def read(path):
    """The record: for each test its verdict and reason."""
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {name: (verdict, reason) for verdict, name, reason in rows}


def counts(*args):
    """Prints verdicts and reasons of records that have names."""
    names, records = args[::2], [read(path) for path in args[1::2]]
    print(" " * 10, *(f"{name:>9}" for name in names))
    for verdict in VERDICTS:
        numbers = [sum(v == verdict for v, _ in record.values())
                   for record in records]
        print(f"{verdict:10}", *(f"{number:9}" for number in numbers))
    for name, record in zip(names, records):
        reasons = collections.Counter(
            reason for verdict, reason in record.values()
            if verdict == "skipped")
        print(f"\n{name} skipped:")
        for reason, number in reasons.most_common():
            print(f"{number:5}  {reason}")
    return 0


def differ(frdma, other):
    """Prints what passed on one of the two only."""
    here, there = read(frdma), read(other)
    for title, one, two in (("passed on frdma only", here, there),
                            ("passed on the other only", there, here)):
        print(title + ":")
        for name in sorted(one):
            verdict, reason = two.get(name, ("missing", ""))
            if one[name][0] == "passed" and verdict != "passed":
                print(f"  {name}: {verdict} {reason[:60]}".rstrip())
    return 0


def leads(least, frdma, other):
    """Fails if frdma is not that far ahead."""
    here, there = (sum(verdict == "passed" for verdict, _ in read(path).values())
                   for path in (frdma, other))
    print(f"{here} passed on frdma, {there} on the other")
    return here - there < int(least)


def skips(page, *paths):
    """Fails if the page gives no reason for a skip."""
    with open(page, encoding="utf-8") as file:
        rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", file.read(), re.M)
    skipped = {(name, reason) for path in paths
               for name, (verdict, reason) in read(path).items()
               if verdict == "skipped"}
    used, bad = set(), 0
    for name, reason in sorted(skipped):
        fits = [row for row in rows if fnmatch.fnmatchcase(name, row[0])
                and fnmatch.fnmatchcase(reason, row[1])]
        used.update(fits)
        if not fits:
            print(f"no reason is documented: {name}: {reason}")
            bad = 1
    for row in rows:
        if row not in used:
            print("documented, but nothing is skipped so:", *row)
    return bad


if __name__ == "__main__":
    sys.exit({"counts": counts, "differ": differ, "leads": leads,
              "skips": skips}
             [sys.argv[1]](*sys.argv[2:]))
