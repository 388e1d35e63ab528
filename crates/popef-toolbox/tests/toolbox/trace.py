"""Checks timelines by the rules of the Trace Event Format, and their sums against the report.

Arguments: the timeline, the execution profile, the clock in Hertz.
"""

import json
import sys

trace = json.load(open(sys.argv[1], encoding="utf-8"))
steps = json.load(open(sys.argv[2], encoding="utf-8"))["simulation"]["steps"]
clock = int(sys.argv[3])
assert trace["displayTimeUnit"] in ("ms", "ns")
lanes, names, counter, cycles = {}, {}, -1.0, {}
for event in trace["traceEvents"]:
    kind, place = event["ph"], (event["pid"], event.get("tid"))
    assert kind in "MXiC" and isinstance(event["name"], str) and event["pid"] > 0, event
    if kind == "M":
        assert event["name"] in ("process_name", "process_sort_index", "thread_name", "thread_sort_index"), event
        names[(event["name"], *place)] = event["args"]
        continue
    assert event["ts"] >= 0, event
    assert ("process_name", event["pid"], None) in names, "a process is named before it is used"
    if kind == "C":
        assert event["ts"] >= counter, "counters go forward"
        counter = event["ts"]
        assert all(isinstance(value, int) for value in event["args"].values())
        continue
    assert ("thread_name", *place) in names, "a lane is named before it is used"
    number = event["args"]["step"]
    step = steps[number]
    if kind == "i":
        assert event["s"] == "t"
    else:
        # On a lane, steps follow each other: that is stricter than to be nested.
        start, end = event["ts"], event["ts"] + event["dur"]
        assert event["dur"] >= 0 and start >= lanes.get(place, 0.0) - 1e-6, (event, lanes[place])
        lanes[place] = end
    if step["type"].lower() == "sync":
        continue
    start, end = step["cyclesFrom"] * 1e6 / clock, (step["cyclesTo"] + 1) * 1e6 / clock
    # Whole nanoseconds.
    assert abs(event["ts"] - start) <= 0.001 and abs(event["ts"] + event["dur"] - end) <= 0.001, (event, start, end)
    cycles[number] = event["args"].get("cycles")
timed = {number: step for number, step in enumerate(steps) if "cyclesFrom" in step}
assert cycles.keys() == timed.keys(), "every step with a time is there"
assert all(cycles[number] == step.get("cycles") for number, step in timed.items())
processes = sorted(value["name"] for key, value in names.items() if key[0] == "process_name")
kinds = sorted({value["name"] for key, value in names.items() if key[0] == "thread_name"})
print("; ".join([", ".join(processes), ", ".join(kinds), f"{sum(value or 0 for value in cycles.values())} cycles"]))
