#!/usr/bin/env python3
"""Runs CTest over a build folder and counts the single tests behind its entries.

An entry `unit.X` leaves a GoogleTest XML file, `lit.X` a lit JSON file, both in BUILD/test-results; every other entry
counts as one test. A binary that crashes leaves no file: the cases that its output shows as passed still count, and the
crash counts as one failure. The last line printed is `N passed, N failed`; the exit status is 0 only if something passed
and nothing failed.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

GOOD_LIT = {"PASS", "XFAIL", "FLAKYPASS"}
NEUTRAL_LIT = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


class Count:
    def __init__(self):
        self.passed = 0
        self.skipped = 0
        self.failures = []

    def add(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures


def count_googletest(entry, path):
    """The cases of one GoogleTest XML file; None if the file is missing or cut off."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    count = Count()
    for case in root.iter("testcase"):
        name = "%s: %s.%s" % (entry, case.get("classname", "?"), case.get("name", "?"))
        if case.find("failure") is not None or case.find("error") is not None:
            count.failures.append(name)
        elif case.get("status") == "notrun" or case.get("result") in ("skipped", "suppressed"):
            count.skipped += 1
        else:
            count.passed += 1
    return count


def count_lit(entry, path):
    """The files of one lit JSON report; None if it is missing or cut off."""
    try:
        with open(path, encoding="utf-8") as report:
            tests = json.load(report)["tests"]
    except (OSError, ValueError, KeyError):
        return None
    count = Count()
    for test in tests:
        if test["code"] in GOOD_LIT:
            count.passed += 1
        elif test["code"] in NEUTRAL_LIT:
            count.skipped += 1
        else:
            count.failures.append("%s: %s (%s)" % (entry, test["name"], test["code"]))
    return count


def count_entry(entry, status, output, message, results):
    """One CTest entry. status is what CTest's report says: run, fail, notrun or disabled."""
    count = None
    if entry.startswith("unit."):
        count = count_googletest(entry, os.path.join(results, entry + ".xml"))
        if count is None and status != "notrun":
            count = Count()
            count.passed = len(re.findall(r"^\[       OK \] \S+ \(\d+ ms\)", output, re.M))
            last = re.findall(r"^\[ RUN      \] (\S+)", output, re.M)
            count.failures.append("%s: no report, the program ended early%s" % (entry, " in " + last[-1] if last else ""))
            return count
    elif entry.startswith("lit."):
        count = count_lit(entry, os.path.join(results, entry + ".json"))
        if count is None and status == "run":
            count = Count()
            count.failures.append("%s: lit left no report" % entry)
    if count is None:
        count = Count()
        if status == "run":
            count.passed = 1
        elif status == "disabled" or "SKIP_RETURN_CODE" in message or "SKIP_REGULAR_EXPRESSION" in message:
            count.skipped = 1
        else:
            count.failures.append("%s (%s)" % (entry, message or status))
    elif status not in ("run", "disabled") and not count.failures:
        # Every case passed and the program still failed: a leak report or a crash on the way out.
        count.failures.append("%s: its cases passed but the program failed (%s)" % (entry, message or status))
    return count


def count_report(report, results):
    total = Count()
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError) as error:
        total.failures.append("ctest left no readable report: %s" % error)
        return total
    for case in root.iter("testcase"):
        output = case.findtext("system-out") or ""
        message = ""
        for kind in ("failure", "skipped"):
            node = case.find(kind)
            if node is not None:
                message = node.get("message", "") or message
        total.add(count_entry(case.get("name"), case.get("status"), output, message, results))
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("-R", "--filter", help="only the CTest entries that match this regular expression")
    parser.add_argument("--self-test", action="store_true", help="check the counting itself on planted reports")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    results = os.path.join(os.path.abspath(arguments.build), "test-results")
    shutil.rmtree(results, ignore_errors=True)
    os.makedirs(results)
    report = os.path.join(results, "ctest.xml")
    command = ["ctest", "--test-dir", arguments.build, "--output-on-failure", "-j", str(arguments.jobs),
               "--output-junit", report]
    if arguments.filter:
        command += ["-R", arguments.filter]
    start = time.monotonic()
    status = subprocess.call(command, stdin=subprocess.DEVNULL)
    total = count_report(report, results)
    if status != 0 and not total.failures:
        total.failures.append("ctest itself ended with status %d" % status)
    for failure in total.failures:
        print("FAILED " + failure)
    print("tests took %.0f s; %d skipped" % (time.monotonic() - start, total.skipped))
    sys.stderr.flush()
    print("%d passed, %d failed" % (total.passed, len(total.failures)), flush=True)
    return 1 if total.failures or total.passed == 0 else 0


def self_test():
    case = '<testcase classname="S" name="%s" status="%s">%s</testcase>'
    with tempfile.TemporaryDirectory() as folder:
        def put(name, text):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)

        put("unit.good.xml", "<testsuites><testsuite>" + case % ("a", "run", "") + case % ("b", "notrun", "")
            + "</testsuite></testsuites>")
        put("unit.bad.xml", "<testsuites><testsuite>" + case % ("a", "run", "<failure/>") + case % ("b", "run", "")
            + "</testsuite></testsuites>")
        put("unit.cut.xml", "<testsuites><testsu")
        put("lit.room.json", json.dumps({"tests": [{"name": "x", "code": "PASS"}, {"name": "y", "code": "FAIL"},
                                                   {"name": "z", "code": "UNSUPPORTED"}]}))
        put("lit.cut.json", '{"tests": [')
        crash = "[ RUN      ] S.a\n[       OK ] S.a (0 ms)\n[ RUN      ] S.b\n"
        planted = [
            # entry, status, output, message -> passed, failed, skipped
            (("unit.good", "run", "", ""), (1, 0, 1)),
            (("unit.good", "fail", "", "SEGFAULT"), (1, 1, 1)),
            (("unit.bad", "fail", "", ""), (1, 1, 0)),
            (("unit.cut", "fail", crash, "SEGFAULT"), (1, 1, 0)),
            (("unit.none", "fail", crash, "SEGFAULT"), (1, 1, 0)),
            (("unit.none", "run", "", ""), (0, 1, 0)),
            (("unit.none", "notrun", "", "Unable to find executable"), (0, 1, 0)),
            (("lit.room", "fail", "", ""), (1, 1, 1)),
            (("lit.cut", "fail", "", ""), (0, 1, 0)),
            (("lit.none", "run", "", ""), (0, 1, 0)),
            (("check.x", "run", "", ""), (1, 0, 0)),
            (("check.x", "fail", "", "Timeout"), (0, 1, 0)),
            (("check.x", "notrun", "", "SKIP_RETURN_CODE=77"), (0, 0, 1)),
            (("check.x", "disabled", "", ""), (0, 0, 1)),
        ]
        wrong = 0
        for arguments, expected in planted:
            count = count_entry(*arguments, folder)
            found = (count.passed, len(count.failures), count.skipped)
            if found != expected:
                wrong += 1
                print("self-test: %r: expected %r, found %r" % (arguments, expected, found))
        put("ctest.xml", '<testsuite><testcase name="check.a" status="run"/><testcase name="check.b" status="fail">'
            '<failure message="boom"/></testcase></testsuite>')
        total = count_report(os.path.join(folder, "ctest.xml"), folder)
        missing = count_report(os.path.join(folder, "none.xml"), folder)
        if (total.passed, len(total.failures)) != (1, 1) or len(missing.failures) != 1:
            wrong += 1
            print("self-test: whole reports are counted wrongly")
    print("run_tests self-test: %s" % ("ok" if not wrong else "%d wrong" % wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
