// include/heddle/trace.h, the recorder's side.
#include "frame_memory.hpp"
#include "load.hpp"
#include "snapshot.hpp"
#include "this_thread.hpp"

namespace heddle::trace {

namespace {

void pause(bool paused) {
  Process* const current = process();
  if (current == nullptr || local.busy) return;
  const Quiet quiet;
  const Locked locked(current->lock);
  if (current->state != Recording::kRunning) {
    loaded.paused = paused;  // for when it starts
    return;
  }
  current->paused = paused;
  // What was announced while recording was paused is not known.
  for (Thread* thread = current->threads; thread != nullptr; thread = thread->next) {
    thread->window.strand = 0;
  }
  publish_all(*current);
}

}  // namespace

}  // namespace heddle::trace

using namespace heddle::trace;

extern "C" {

[[gnu::visibility("default")]] void heddle_trace_start() { pause(false); }

[[gnu::visibility("default")]] void heddle_trace_stop() { pause(true); }

[[gnu::visibility("default")]] int heddle_trace_snapshot() {
  Process* const current = process();
  if (current == nullptr || current->state != Recording::kRunning || local.busy) return 0;
  const Quiet quiet;
  const Busy busy;
  const long error = take_snapshot(*current);
  if (attached()) local.current = &local.self->window;
  return static_cast<int>(-error);
}

[[gnu::visibility("default")]] void heddle_trace_name_thread(const char* name) {
  with_this_thread([name](Process&, Thread& thread) {
    name_for_good(thread, name);
    return 0;
  });
}

[[gnu::visibility("default")]] void heddle_trace_mark(const char* text) {
  with_this_thread([text](Process& process, Thread& thread) {
    return append_text(process, thread, RecordType::kMark, 0, text);
  });
}

/// Where heddle_trace_strand_switch (arch/x86_64_hooks.S) cannot go its quick way.
[[gnu::visibility("hidden")]] void heddle_strand_slowly(std::uint64_t strand) {
  with_this_thread([strand](Process& process, Thread& thread) {
    const long error = append_strand(process, thread, StrandEvent::kSwitch, strand);
    thread.window.strand = strand;
    return error;
  });
}

/// Likewise heddle_append.
[[gnu::visibility("hidden")]] void heddle_append_slowly(std::uint64_t first, std::uint64_t third) {
  with_this_thread([=](Process& process, Thread& thread) {
    return append_record(process, thread, first, third);
  });
}

/// Likewise the capturing hooks (arch/x86_64_capturing.S); those of the second way set `entry_way`.
[[gnu::visibility("hidden")]] void heddle_frame_slowly(std::uint64_t first, std::uint64_t second,
                                                       bool entry_way) {
  const FrameRecord record{first, second};
  with_this_thread(
      [&record](Process& process, Thread& thread) { return append_frame(process, thread, record); },
      entry_way);
}

[[gnu::visibility("default")]] void heddle_trace_strand_made(std::uint64_t strand) {
  heddle_append(first_word(RecordType::kStrandMade, 3, 0), strand);
}

[[gnu::visibility("default")]] void heddle_trace_name_strand(std::uint64_t strand,
                                                             const char* name) {
  with_this_thread([=](Process& process, Thread& thread) {
    return append_text(process, thread, RecordType::kStrandName, strand, name);
  });
}

[[gnu::visibility("default")]] void heddle_trace_strand_waits(std::uint64_t strand,
                                                              const char* reason) {
  with_this_thread([=](Process& process, Thread& thread) {
    return append_text(process, thread, RecordType::kStrandWaits, strand, reason);
  });
}

[[gnu::visibility("default")]] void heddle_trace_strand_end(std::uint64_t strand) {
  with_this_thread([strand](Process& process, Thread& thread) {
    if (thread.window.strand == strand) thread.window.strand = 0;
    return append_strand(process, thread, StrandEvent::kEnd, strand);
  });
}
}
