"""check_chrome.py (EXPORTED STRANDS REPLAYED)...

Reads what `heddle export --format chrome` wrote, by the description of the trace event format. What
it finds must be what `heddle strands --json` and `heddle replay` say of the same trace. Prints a
line of what was compared; ends with exit code 1 at the first difference.
"""

import json
import sys

from timeline import BEGIN, END, INSTANT, Event, check, check_timeline, read_strands

PHASES = {"B": BEGIN, "E": END, "i": INSTANT, "s": INSTANT, "f": INSTANT}


def read(path):
    """Names of tracks by (pid, tid), and events in the order of the file."""
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    names, events = {}, []
    for one in trace["traceEvents"]:
        track = one["pid"], one["tid"]
        if one["ph"] == "M":
            if one["name"] == "thread_name":
                check(track not in names, "two names of", track)
                names[track] = one["args"]["name"]
            continue
        check(track in names, "an event on no track:", one)
        time = round(one["ts"] * 1000)
        flow = [int(one["id"], 16)] if "id" in one else []
        check(one["ph"] != "f" or one["bp"] == "e", "a flow that ends in the next slice", one)
        flows, arriving = (flow if one["ph"] == which else [] for which in "sf")
        events.append(Event(time, track, PHASES[one["ph"]], one["name"], one.get("cat"), flows, arriving, None))
    return names, events


def check_ends(events):
    """Each end has the name of the slice that it ends: speedscope asks for that. Every flow lies within a slice."""
    open_slices = {}
    for event in events:
        stack = open_slices.setdefault(event.track, [])
        if event.type == BEGIN:
            stack.append(event.name)
        elif event.type == END:
            check(stack and stack.pop() == event.name, "an end of another slice", event)
        elif event.category == "flow":
            check(stack, "a flow in no slice:", event)


def main(exported, strands_path, replay_path):
    names, events = read(exported)
    strands = read_strands(strands_path)
    found = {}
    for strand in strands:
        track = strand["pid"], strand["strand"]
        name = f"{strand['kind']} {strand['name']}" if strand["kind"] != "thread" else f"{strand['name']} {strand['tid']}"
        check(names.pop(track, None) == name, "track of", strand)
        found[track] = track
    check(not names, "tracks of no strand:", names)
    check_ends(events)
    print("chrome:", check_timeline(events, found, strands, replay_path))


for first in range(1, len(sys.argv), 3):
    main(*sys.argv[first : first + 3])
