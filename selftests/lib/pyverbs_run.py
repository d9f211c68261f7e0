#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Runs the tests of rdma-core (run_tests.py, as it is) and writes a line for each
to a file: verdict, test and reason, separated by tabs.

usage: pyverbs_run.py RUN_TESTS RECORD [OPTION OF RUN_TESTS...]

Cycles of objects are not collected. A Context of pyverbs closes what was made
on it through weak references; Python's collector clears these before it
destroys the objects of a cycle, in any order. If the Context is the first, the
others are destroyed on a device that is closed, in memory that is free: "Failed
to close CQ. Errno: 9", or a crash. A test that is skipped while its resources
are made leaves such a cycle, on any device (test_flow: all of them).

Processes are forked, as they always were before Python 3.14: test_device starts
some with what cannot be passed otherwise, on any device.
"""

import atexit
import gc
import multiprocessing
import runpy
import sys
import unittest


class Recorder(unittest.TextTestResult):
    """Writes verdicts down at once: the last line is where a crash was."""

    def _record(self, verdict, test, reason=""):
        name = test.id().removeprefix("tests.")
        reason = " ".join(reason.split())
        print(verdict, name, reason, sep="\t", file=RECORD, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._record("passed", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._record("skipped", test, reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._record("failed", test, str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        self._record("error", test, f"{err[0].__name__}: {err[1]}")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._record("failed", subtest, str(err[1]))


gc.disable()
atexit.register(gc.freeze)
multiprocessing.set_start_method("fork")
RECORD = open(sys.argv[2], "w", encoding="utf-8")
unittest.TextTestRunner.resultclass = Recorder
sys.argv[:] = sys.argv[1:2] + sys.argv[3:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
