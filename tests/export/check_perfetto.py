"""check_perfetto.py (EXPORTED STRANDS REPLAYED)...

Perfetto's own message definitions read what `heddle export --format perfetto` wrote. What they
find must be what `heddle strands --json` and `heddle replay` say of the same trace. Prints a line
of what was compared; ends with exit code 1 at the first difference.
"""

import re
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto
from timeline import BEGIN, END, INSTANT, Event, check, check_timeline, read_strands

TYPES = {
    perfetto.TrackEvent.TYPE_SLICE_BEGIN: BEGIN,
    perfetto.TrackEvent.TYPE_SLICE_END: END,
    perfetto.TrackEvent.TYPE_INSTANT: INSTANT,
}
NEEDS_STATE_CLEARED = perfetto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED


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
            check(TYPES[event.type] == END or name, "no name:", event)
            category = [sequence.categories[iid].name for iid in event.category_iids]
            source = sequence.sources[event.source_location_iid] if event.source_location_iid else None
            events.append(
                Event(
                    time - start, uuid, TYPES[event.type], name, category[0] if category else None,
                    list(event.flow_ids), list(event.terminating_flow_ids), source,
                )
            )  # fmt: skip
    return tracks, events, zero


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


def main(exported, strands_path, replay_path):
    tracks, events, _ = read(exported)
    strands = read_strands(strands_path)
    found = check_tracks(tracks, strands)
    for event in events:
        if event.type == BEGIN and event.category == "call":
            source = event.source
            check(source and source.function_name and source.file_name, "no source", event)
    print("perfetto:", check_timeline(events, found, strands, replay_path))


for first in range(1, len(sys.argv), 3):
    main(*sys.argv[first : first + 3])
