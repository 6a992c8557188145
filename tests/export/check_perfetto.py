"""check_perfetto.py (EXPORTED STRANDS REPLAYED)...

Perfetto's own message definitions read what `heddle export --format perfetto` wrote. What they
find must be what `heddle strands --json` and `heddle replay` say of the same trace. Prints a line
of what was compared; ends with exit code 1 at the first difference.
"""

import collections
import json
import re
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

BEGIN, END, INSTANT = (
    perfetto.TrackEvent.TYPE_SLICE_BEGIN,
    perfetto.TrackEvent.TYPE_SLICE_END,
    perfetto.TrackEvent.TYPE_INSTANT,
)
NEEDS_STATE_CLEARED = perfetto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED

Event = collections.namedtuple("Event", "time track type name category flows arriving source")


def check(holds, *what):
    if not holds:
        sys.exit("wrong: " + " ".join(str(one) for one in what))


class Sequence:
    """The state that a reader keeps of the packets with one trusted_packet_sequence_id."""

    def __init__(self):
        self.names, self.categories, self.sources = {}, {}, {}
        self.clock, self.track = None, 0

    def intern(self, data):
        for known, new in (
            (self.names, data.event_names),
            (self.categories, data.event_categories),
            (self.sources, data.source_locations),
        ):
            for one in new:
                check(one.iid and one.iid not in known, "interned twice, or as 0:", one)
                known[one.iid] = one


def read(path):
    """Tracks by uuid, events in the order of the file with their times since the first snapshot, and that snapshot."""
    trace = perfetto.Trace()
    with open(path, "rb") as file:
        size = trace.ParseFromString(file.read())
    trace.DiscardUnknownFields()
    check(trace.ByteSize() == size, "some fields are not Perfetto's")
    first = trace.packet[0].clock_snapshot
    check(first.primary_trace_clock == perfetto.BUILTIN_CLOCK_MONOTONIC_RAW, "primary clock")
    zero = {clock.clock_id: clock.timestamp for clock in first.clocks}
    start = zero[perfetto.BUILTIN_CLOCK_MONOTONIC_RAW]
    tracks, events, sequences = {}, [], {}
    for packet in trace.packet:
        number = packet.trusted_packet_sequence_id
        check(number, "a packet of no sequence:", packet)
        if number not in sequences:
            check(packet.sequence_flags & NEEDS_STATE_CLEARED, "no beginning of sequence", number)
            sequences[number] = Sequence()
        else:
            check(not packet.sequence_flags, "state cleared in the middle of sequence", number)
        sequence = sequences[number]
        if packet.HasField("trace_packet_defaults"):
            check(packet.trace_packet_defaults.timestamp_clock_id == 64, "default clock")
            sequence.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
        sequence.intern(packet.interned_data)
        if packet.HasField("clock_snapshot") and number != 1:
            clocks = {clock.clock_id: clock for clock in packet.clock_snapshot.clocks}
            check(clocks[64].is_incremental, "the sequence's clock is incremental")
            sequence.clock = clocks[64].timestamp
            check(clocks[5].timestamp == sequence.clock == start, "snapshots differ")
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            check(track.uuid and track.uuid not in tracks, "two tracks", track)
            check(not track.HasField("parent_uuid") or track.parent_uuid in tracks, "no parent", track)
            tracks[track.uuid] = track
        if packet.HasField("track_event"):
            if packet.timestamp_clock_id:
                check(packet.timestamp_clock_id == perfetto.BUILTIN_CLOCK_MONOTONIC_RAW, "clock")
                time = packet.timestamp
            else:
                sequence.clock += packet.timestamp
                time = sequence.clock
            event = packet.track_event
            uuid = event.track_uuid if event.HasField("track_uuid") else sequence.track
            check(uuid in tracks, "an event on no track:", event)
            name = sequence.names[event.name_iid].name if event.name_iid else event.name
            check(event.type == END or name, "no name:", event)
            category = [sequence.categories[iid].name for iid in event.category_iids]
            source = sequence.sources[event.source_location_iid] if event.source_location_iid else None
            events.append(
                Event(
                    time - start, uuid, event.type, name, category[0] if category else None,
                    list(event.flow_ids), list(event.terminating_flow_ids), source,
                )
            )  # fmt: skip
    return tracks, events, zero


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


def check_tracks(tracks, strands):
    """Each strand's track by (pid, number), checked for kind and name."""
    processes = {track.process.pid: track.uuid for track in tracks.values() if track.HasField("process")}
    rest = {track.uuid: track for track in tracks.values() if not track.HasField("process")}
    found = {}
    groups = {}
    for pid, uuid in processes.items():
        for track in list(rest.values()):
            if track.parent_uuid == uuid and track.name in ("fibers", "coroutines"):
                check(track.child_ordering == perfetto.TrackDescriptor.CHRONOLOGICAL, "order of", track)
                groups[pid, track.name] = track.uuid
                del rest[track.uuid]
    for strand in strands:
        pid, number = strand["pid"], strand["strand"]
        if strand["kind"] == "thread":
            thread = (pid, strand["tid"])
            is_it = lambda track: track.HasField("thread") and (track.thread.pid, track.thread.tid) == thread
            parent, name = processes[pid], strand["name"]
        else:
            is_it = lambda track: re.fullmatch(rf".* {number}", track.name, re.S)
            parent, name = groups[pid, strand["kind"] + "s"], f"{strand['name']} {number}"
        candidates = [track for track in rest.values() if track.parent_uuid == parent and is_it(track)]
        check(len(candidates) == 1, "tracks of", strand, candidates)
        track = candidates[0]
        check((track.thread.thread_name if strand["kind"] == "thread" else track.name) == name, "name of", track, name)
        check(track.description.startswith(f"{strand['kind']} {number}"), "description of", track)
        if strand["kind"] != "thread":
            check(track.sibling_merge_behavior == perfetto.TrackDescriptor.SIBLING_MERGE_BEHAVIOR_NONE, "merged", track)
        found[pid, number] = track.uuid
        del rest[track.uuid]
    check(not rest, "tracks of no strand:", list(rest.values()))
    return found


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


def main(exported, strands_path, replay_path):
    tracks, events, _ = read(exported)
    with open(strands_path, encoding="utf-8") as file:
        strands = [json.loads(text) for text in file]
    by_track = slices(events)
    found = check_tracks(tracks, strands)
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
    for begin, _, _ in call_slices:
        check(begin.source and begin.source.function_name and begin.source.file_name, "no source", begin)
    print(f"{len(strands)} strands ({timed} timed), {len(calls)} calls, {flows} flows")


for first in range(1, len(sys.argv), 3):
    main(*sys.argv[first : first + 3])
