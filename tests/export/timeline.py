"""What an exported timeline must have in common with what Heddle prints of the same trace, whatever its format."""

import collections
import json
import re
import sys

BEGIN, END, INSTANT = "begin", "end", "instant"

Event = collections.namedtuple("Event", "time track type name category flows arriving source")


def check(holds, *what):
    if not holds:
        sys.exit("wrong: " + " ".join(str(one) for one in what))


def slices(events):
    """Slices by track: (begin, end or None, depth). A reader sorts by time and leaves what is at the same time in the order of the file."""
    by_track = collections.defaultdict(list)
    open_slices = collections.defaultdict(list)
    latest = {}
    for event in sorted(events, key=lambda event: event.time):
        stack = open_slices[event.track]
        latest[event.track] = event.time
        if event.type == BEGIN:
            stack.append(event)
        elif event.type == END:
            check(stack, "an end of nothing at", event.time, "on track", event.track)
            begin = stack.pop()
            by_track[event.track].append((begin, event.time, len(stack)))
    for track, stack in open_slices.items():
        by_track[track] += [(begin, None, depth) for depth, begin in enumerate(stack)]
    return by_track


def check_times(strand, own_slices):
    """Calls and suspended time of a strand, from its slices."""
    calls = [one for one in own_slices if one[0].category == "call"]
    check(len(calls) == strand["calls"], "calls of", strand, len(calls))
    if strand["died_ns"] is None or strand["kind"] == "thread" or not calls:
        return 0
    suspended = sum(
        end - begin.time
        for begin, end, _ in own_slices
        if begin.category == "strand" and (begin.name == "suspended" or begin.name.startswith("waits: "))
    )
    before = min(begin.time for begin, _, _ in calls) - strand["born_ns"]
    check(suspended + before == strand["suspended_ns"], "suspended time of", strand, suspended, before)
    return 1


def check_flows(events, strands, found):
    """Every flow has two ends; births lead from parent to child, first resumptions from who ran it first."""
    begins, ends = {}, {}
    order = {}
    for number, event in enumerate(sorted(events, key=lambda event: event.time)):
        order[id(event)] = number
        for known, flows in ((begins, event.flows), (ends, event.arriving)):
            for flow in flows:
                check(flow not in known, "flow used twice", flow)
                known[flow] = event
    check(begins.keys() == ends.keys(), "flows with one end:", begins.keys() ^ ends.keys())
    arriving = collections.defaultdict(list)
    for flow, end in sorted(ends.items()):
        check(order[id(begins[flow])] < order[id(end)], "a flow whose end a reader meets first", begins[flow], end)
        arriving[end.track].append((end.time, flow))
    for strand in strands:
        if strand["kind"] == "thread":
            continue
        pid = strand["pid"]
        # Births have even numbers.
        here = sorted(arriving[found[pid, strand["strand"]]])
        births = [begins[flow] for _, flow in here if flow % 2 == 0]
        resumptions = [begins[flow] for _, flow in here if flow % 2 == 1]
        parent, resumer = strand["parent"], strand["resumer"]
        check([birth.track for birth in births] == ([found[pid, parent]] if parent else []), "birth of", strand, births)
        check(not births or births[0].time == strand["born_ns"], "time of birth of", strand, births)
        if resumer:
            check(resumptions and resumptions[0].track == found[pid, resumer], "who ran first", strand, resumptions)
        check(len(resumptions) <= strand["activations"], "resumptions of", strand, len(resumptions))
    return len(begins)


def replayed(path):
    """Enters and exits as `heddle replay` prints them: times and names."""
    line = re.compile(r" *(\d+)\.(\d{9})  .*?  (Enter|Exit ) (?: |\(\d+\))*(.*)  <- ")
    calls = {"Enter": [], "Exit ": []}
    with open(path, encoding="utf-8") as file:
        for text in file:
            if match := line.match(text):
                seconds, nanos, what, name = match.groups()
                name = re.sub(r" \{frame .*\}$", "", name)
                calls[what].append((int(seconds) * 10**9 + int(nanos), name))
    return calls["Enter"], calls["Exit "]


def check_timeline(events, found, strands, replay_path):
    """Calls, suspensions and flows on the tracks `found` are those of `heddle strands --json` and `heddle replay`. Gives a line about them."""
    by_track = slices(events)
    timed = sum(check_times(strand, by_track[found[strand["pid"], strand["strand"]]]) for strand in strands)
    flows = check_flows(events, strands, found)
    enters, exits = replayed(replay_path)
    call_slices = [one for of_track in by_track.values() for one in of_track if one[0].category == "call"]
    calls = [(begin.time, begin.name) for begin, _, _ in call_slices]
    check(sorted(calls) == sorted(enters), "calls that are not replay's:", set(calls) ^ set(enters))
    # On other stacks than its own, replay does not know which call of a thread an exit ends.
    if all(strand["kind"] != "fiber" for strand in strands):
        ends = collections.Counter(end for _, end, _ in call_slices)
        ends.update(event.time for event in events if event.category == "exit without enter")
        missing = collections.Counter(time for time, _ in exits) - ends
        check(not missing, "exits that end no slice:", missing)
    return f"{len(strands)} strands ({timed} timed), {len(calls)} calls, {flows} flows"


def read_strands(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(text) for text in file]
