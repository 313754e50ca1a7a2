"""The results as JSON, the tables as Markdown, and what a well-formed report is."""

import math

CONVENTION = (
    "f32, B = 1. Every rival computes the same numbers, in the layout it is made for; laying them so is not timed. Each result is "
    "compared with float64 before any time is taken (largest difference over largest value at most {tolerance:g}); of a rival that "
    "has several ways (chunk sizes, variants) the fastest right one is taken. Rivals take turns in {rounds} rounds; a time is the best call of all "
    "rounds, in brackets how much longer the median over rounds of each round's best call is. A ratio is the rival's time over "
    "Lintel's: above 1 Lintel is faster. Limit: 4 dk dv flops a token and head (softmax: of the pairs it looks at) at the measured peak of "
    "the threads.")


def machine_line(machine):
    return "{processor}, {threads} hardware threads, peak {peak_gflops:.0f} GFLOP/s a thread in f32 (measured), vectors of {lanes}; load average {load} " \
           "at the start".format(**machine)


def ratio(row, rival, measure="best"):
    """How many times longer the rival takes than Lintel; None without both."""
    ours, theirs = row["results"].get("lintel", {}), row["results"].get(rival, {})
    return theirs[measure] / ours[measure] if measure in ours and measure in theirs else None


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def kind(row):
    case = row["case"]
    return "One token" if case["T"] == 1 else "Two threads" if case["threads"] > 1 else "Whole sequences"


def shown(row, rival):
    result = row["results"].get(rival, {})
    if "best" not in result:
        return "wrong" if "wrong" in result else "failed" if "failed" in result else "-"
    return "%.3g" % (1e3 * result["best"])


def ours(row, peak):
    result = row["results"].get("lintel", {})
    if "best" not in result:
        return [shown(row, "lintel"), "", ""]
    case = row["case"]
    time = "%.3g (+%.0f %%)" % (1e3 * result["best"], 100 * (result["median"] / result["best"] - 1))
    if case["T"] == 1:
        return [time, "%.1f" % (row["state_bytes"] / result["best"] * 1e-9), ""]
    rate = case["T"] * case["H"] / result["best"] * 1e-6
    return [time, "%.2f" % rate, "%.0f %%" % (100 * row["flops"] / result["best"] * 1e-9 / (peak * case["threads"]))]


def table(rows, rivals, peak, decode):
    others = [name for name in rivals if name != "lintel" and any("best" in row["results"].get(name, {}) or
              "wrong" in row["results"].get(name, {}) or "failed" in row["results"].get(name, {}) for row in rows)]
    head = ["row", "Lintel ms", "GB/s of states" if decode else "M tokens x heads/s"] + ([] if decode else ["of limit"])
    head += ["%s ms (ratio)" % rivals[name] for name in others]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        cells = [row["label"]] + ours(row, peak)[:2 if decode else 3]
        for name in others:
            found = ratio(row, name)
            cells.append(shown(row, name) + (" (%.2f)" % found if found else ""))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def summary(rows, rivals):
    lines = ["| rival | rows | geometric mean of ratios | least | most |", "|---|---|---|---|---|"]
    for name, title in rivals.items():
        ratios = {row["label"]: ratio(row, name) for row in rows if name != "lintel" and ratio(row, name)}
        if ratios:
            least, most = min(ratios, key=ratios.get), max(ratios, key=ratios.get)
            lines.append("| %s | %d | %.2f | %.2f (%s) | %.2f (%s) |" % (
                title, len(ratios), geometric_mean(list(ratios.values())), ratios[least], least, ratios[most], most))
    return lines


def markdown(report):
    rivals, rows, peak = report["rivals"], report["rows"], report["machine"]["peak_gflops"]
    lines = ["%s. %s." % (report["date"], machine_line(report["machine"])), "", CONVENTION.format(**report["options"]), ""]
    for title in ("Whole sequences", "Two threads", "One token"):
        of_kind = [row for row in rows if kind(row) == title]
        if of_kind:
            lines += ["### " + title, ""] + table(of_kind, rivals, peak, title == "One token") + [""]
            lines += summary(of_kind, rivals) + [""]
    choices = sorted({(title, row["label"], row["results"][name]["choice"]) for name, title in rivals.items() for row in rows
                      if "choice" in row["results"].get(name, {})})
    lines += ["<details><summary>What each took</summary>", ""] + ["- %s, %s: %s" % choice for choice in choices] + ["", "</details>", ""]
    for name, reason in sorted(absent(report).items()):
        lines.append("Missing: %s: %s." % (rivals[name], reason))
    if report["left_out"]:
        lines.append("%d rows were left out: the time budget was spent." % report["left_out"])
    return "\n".join(lines) + "\n"


def absent(report):
    """Rivals that took part in no row, and why."""
    reasons = {}
    for name in report["rivals"]:
        results = [row["results"].get(name, {}) for row in report["rows"]]
        if results and not any("choice" in result or "wrong" in result for result in results):
            reasons[name] = next((result.get("missing") or result.get("failed") for result in results), "not asked")
    return reasons


def problems(report):
    """What is wrong with a report: a list of lines, empty where all is well. A rival that is missing is no problem; a
    result of Lintel's that is not right, or a time without a check before it, is."""
    found = []
    for key in ("date", "machine", "options", "rivals", "rows", "left_out"):
        if key not in report:
            found.append("no '%s'" % key)
    for row in report.get("rows", []):
        if "choice" not in row["results"].get("lintel", {}):
            found.append("%s: lintel gave no right result: %s" % (row["label"], row["results"].get("lintel")))
        for name, result in row["results"].items():
            if "best" in result and not result.get("error", math.inf) <= report["options"]["tolerance"]:
                found.append("%s: %s has a time without a right result" % (row["label"], name))
            if "best" in result and not 0 < result["best"] <= result["median"]:
                found.append("%s: %s: times are out of order" % (row["label"], name))
            if "failed" in result:
                found.append("%s: %s failed: %s" % (row["label"], name, result["failed"]))
    return found
